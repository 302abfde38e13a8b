/* The shortest use of the library: bench_start measures how long it takes from exec to exit. */
#include <3pt/3pt.h>

int main(void) {
  tpt_context *context;
  if (tpt_context_create(&context)) return 1;
  tpt_context_destroy(context);
  return 0;
}
