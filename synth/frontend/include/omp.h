// <omp.h>. For parsing only: nothing here is compiled or linked.
#ifndef XPILER_OMP_H
#define XPILER_OMP_H
#include <xpiler/config.h>
XP_C_BEGIN
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_num_procs(void);
void omp_set_num_threads(int n);
double omp_get_wtime(void);
XP_C_END
#endif
