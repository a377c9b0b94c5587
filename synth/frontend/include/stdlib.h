// <stdlib.h>. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_STDLIB_H
#define XPILER_STDLIB_H

#include <stddef.h>
#include <sys/types.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
XP_HOST_DEVICE_BEGIN
XP_C_BEGIN
void *malloc(size_t bytes);
void *calloc(size_t count, size_t bytes);
void *realloc(void *p, size_t bytes);
void *aligned_alloc(size_t alignment, size_t bytes);
int posix_memalign(void **p, size_t alignment, size_t bytes);
void free(void *p);
void exit(int status) __attribute__((noreturn));
void abort(void) __attribute__((noreturn));
int atexit(void (*f)(void));
char *getenv(const char *name);
int system(const char *command);
int atoi(const char *s);
long atol(const char *s);
long long atoll(const char *s);
double atof(const char *s);
long strtol(const char *s, char **end, int base);
unsigned long strtoul(const char *s, char **end, int base);
long long strtoll(const char *s, char **end, int base);
unsigned long long strtoull(const char *s, char **end, int base);
float strtof(const char *s, char **end);
double strtod(const char *s, char **end);
int rand(void);
void srand(unsigned seed);
int rand_r(unsigned *seed);
double drand48(void);
void srand48(long seed);
void qsort(void *base, size_t count, size_t bytes, int (*compare)(const void *, const void *));
int abs(int x);
long labs(long x);
long long llabs(long long x);
XP_C_END
XP_HOST_DEVICE_END
#ifdef __cplusplus
XP_HOST_DEVICE_BEGIN
long abs(long x);
long long abs(long long x);
XP_HOST_DEVICE_END
namespace std {
using ::malloc; using ::calloc; using ::realloc; using ::aligned_alloc; using ::free; using ::exit; using ::abort; using ::atexit; using ::getenv; using ::system;
using ::atoi; using ::atol; using ::atoll; using ::atof; using ::strtol; using ::strtoul; using ::strtoll; using ::strtoull; using ::strtof; using ::strtod;
using ::rand; using ::srand; using ::qsort; using ::abs; using ::labs; using ::llabs;
}
#endif
#endif
