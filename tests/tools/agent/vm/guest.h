// The smallest machines that say something: a boot sector, and a kernel that is not one, both of a few bytes.
#pragma once
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

// Says a letter and a line feed at every tick of its clock (18 a second), a to z and z for ever, on the first serial
// port, so that one that goes on does not say what one says that begins.
// When its power button is pressed it says "!" and powers down. 16-bit code at 0x7c00:
static const uint8_t guest_code[] = {
	0xfa,                // cli
	0x31, 0xc0,          // xor ax, ax
	0x8e, 0xd8,          // mov ds, ax
	0x8e, 0xd0,          // mov ss, ax
	0xbc, 0x00, 0x7c,    // mov sp, 0x7c00
	0xe4, 0xa1,          // in al, 0xa1: the interrupt of the button is not wanted,
	0x0c, 0x02,          // or al, 2
	0xe6, 0xa1,          // out 0xa1, al
	0xba, 0x02, 0x06,    // mov dx, 0x602: its status is
	0xb8, 0x00, 0x01,    // mov ax, 0x100
	0xef,                // out dx, ax
	0xb3, 'a',           // mov bl, 'a'
	0xfb,                // sti
	0x88, 0xd8,          // next: mov al, bl
	0xba, 0xf8, 0x03,    // mov dx, 0x3f8
	0xee,                // out dx, al
	0xb0, '\n',          // mov al, '\n'
	0xee,                // out dx, al
	0xfe, 0xc3,          // inc bl
	0x80, 0xfb, 'z' + 1, // cmp bl, 'z' + 1
	0x75, 0x02,          // jne tick
	0xb3, 'z',           // mov bl, 'z'
	0xba, 0x00, 0x06,    // tick: mov dx, 0x600
	0xed,                // in ax, dx
	0xf6, 0xc4, 0x01,    // test ah, 1
	0x75, 0x03,          // jnz off
	0xf4,                // hlt
	0xeb, 0xe2,          // jmp next
	0xba, 0xf8, 0x03,    // off: mov dx, 0x3f8
	0xb0, '!',           // mov al, '!'
	0xee,                // out dx, al
	0xb0, '\n',          // mov al, '\n'
	0xee,                // out dx, al
	0xba, 0x04, 0x06,    // mov dx, 0x604
	0xb8, 0x00, 0x20,    // mov ax, 0x2000
	0xef,                // out dx, ax
	0xf4,                // hlt
};

// Says its command line, a space and how many bytes its initial RAM disk has (one digit), and powers down. It is what
// the boot protocol of Linux calls the setup code, version 2.02, behind its jump and header:
static const uint8_t kernel_code[] = {
	0x8b, 0x1e, 0x1c, 0x02, // mov bx, [0x21c]: the RAM disk's bytes
	0x66, 0xa1, 0x28, 0x02, // mov eax, [0x228]: where the command line is
	0x66, 0x89, 0xc6,       // mov esi, eax
	0x83, 0xe6, 0x0f,       // and si, 15
	0x66, 0xc1, 0xe8, 0x04, // shr eax, 4
	0x8e, 0xd8,             // mov ds, ax
	0xba, 0xf8, 0x03,       // mov dx, 0x3f8
	0xfc,                   // cld
	0xac,                   // more: lodsb
	0x84, 0xc0,             // test al, al
	0x74, 0x03,             // jz size
	0xee,                   // out dx, al
	0xeb, 0xf8,             // jmp more
	0xb0, ' ',              // size: mov al, ' '
	0xee,                   // out dx, al
	0xb0, '0',              // mov al, '0'
	0x00, 0xd8,             // add al, bl
	0xee,                   // out dx, al
	0xb0, '\n',             // mov al, '\n'
	0xee,                   // out dx, al
	0xba, 0x04, 0x06,       // mov dx, 0x604
	0xb8, 0x00, 0x20,       // mov ax, 0x2000
	0xef,                   // out dx, ax
	0xf4,                   // hlt
};

// What is not said is zero. Returns whether it was written.
static inline bool guest_write_file(
	const char *path, const uint8_t *bytes, size_t size, size_t at, off_t whole)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);
	bool good = fd >= 0 && ftruncate(fd, whole) == 0 &&
		    pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size;
	return (fd < 0 || close(fd) == 0) && good;
}

// A raw disk of 1 MiB.
static inline bool guest_write_disk(const char *path)
{
	static const uint8_t bootable[] = {0x55, 0xaa};
	return guest_write_file(path, guest_code, sizeof guest_code, 0, 1 << 20) &&
	       guest_write_file(path, bootable, sizeof bootable, 510, 1 << 20);
}

static inline bool guest_write_kernel(const char *path)
{
	static const uint8_t header[] = {0xeb, 0x66, 'H', 'd', 'r', 'S', 0x02, 0x02};
	static const uint8_t setup_sectors[] = {1};
	return guest_write_file(path, setup_sectors, sizeof setup_sectors, 0x1f1, 2048) &&
	       guest_write_file(path, header, sizeof header, 0x200, 2048) &&
	       guest_write_file(path, kernel_code, sizeof kernel_code, 0x268, 2048);
}
