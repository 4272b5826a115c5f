/* Included before each kernel's C (setup.py): what builds tracebacks is cold, so that the compiler moves the ways to it
   out of the code that runs. */
#ifdef __GNUC__
static void __Pyx_AddTraceback(const char *, int, int, const char *) __attribute__((cold, noinline));
#endif
