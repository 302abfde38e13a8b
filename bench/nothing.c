/* What bench_start compares bench_context with: a program without the library. */
int main(void) { return 0; }
