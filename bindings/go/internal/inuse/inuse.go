// Package inuse tells the tests how many bytes the C library's malloc has given out. Test files cannot use cgo themselves.
package inuse

/*
#include <stddef.h>
#include <stdlib.h>

// glibc's mallinfo2, since 2.33; weak, so that it is NULL where it is missing.
struct words { size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost; };
struct words mallinfo2(void) __attribute__((weak));

static int known(void) { return mallinfo2 != NULL; }

static size_t in_use(void) {
  struct words words = mallinfo2();
  return words.uordblks + words.hblkhd;
}

static void lose(void) {
  static void *volatile block;
  block = malloc(64);
}
*/
import "C"

// Known says whether there is mallinfo2.
func Known() bool { return C.known() != 0 }

// Bytes are what malloc has given out, in all its arenas.
func Bytes() int { return int(C.in_use()) }

// Lose takes 64 bytes of malloc, for ever.
func Lose() { C.lose() }
