import {drawInto} from "./core/dom.js";
import {start, view} from "./shell.js";

drawInto(document.body, view);
start();
