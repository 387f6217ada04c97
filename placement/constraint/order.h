// How two values compare, as bits: an operator accepts some of them.
#pragma once

enum order { ORDER_LESS = 1, ORDER_EQUAL = 2, ORDER_GREATER = 4 };
