/* Stands in for OpenMP's header where the compiler has none: the blis.h of BLIS's OpenMP flavour
 * includes it and uses nothing of it. */
