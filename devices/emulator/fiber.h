// Stackful coroutines: a switch of a dozen nanoseconds on x86-64 and aarch64, ucontext elsewhere.
#pragma once

#if defined(__x86_64__) || defined(__aarch64__)

struct Fiber {
  void* stack;  // where it stopped
  char* top;    // of its memory
};

// Saves the callee-saved registers and the stack pointer in *save and goes on at `to`.
extern "C" void xp_switch_fiber(void** save, void* to);

#if defined(__x86_64__)
asm(R"(
.text
.globl xp_switch_fiber
.type xp_switch_fiber, @function
xp_switch_fiber:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size xp_switch_fiber, .-xp_switch_fiber
)");
// six registers, the entry as return address, and one word so that the entry sees the stack of a called function
static inline void make_fiber(Fiber* f, void (*entry)()) {
  void** sp = reinterpret_cast<void**>(reinterpret_cast<unsigned long>(f->top) & ~63ul);
  *--sp = nullptr;
  *--sp = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; i++) *--sp = nullptr;
  f->stack = sp;
}
#else
asm(R"(
.text
.globl xp_switch_fiber
.type xp_switch_fiber, %function
xp_switch_fiber:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size xp_switch_fiber, .-xp_switch_fiber
)");
static inline void make_fiber(Fiber* f, void (*entry)()) {
  void** sp = reinterpret_cast<void**>((reinterpret_cast<unsigned long>(f->top) & ~63ul) - 160);
  for (int i = 0; i < 20; i++) sp[i] = nullptr;
  sp[11] = reinterpret_cast<void*>(entry);  // x30
  f->stack = sp;
}
#endif

static inline void switch_fiber(void** save, void* to) { xp_switch_fiber(save, to); }

#else

#include <stdlib.h>
#include <ucontext.h>

struct Fiber {
  void* stack;  // the ucontext_t where it stopped
  char* top;
};

static inline void make_fiber(Fiber* f, void (*entry)()) {
  auto* context = static_cast<ucontext_t*>(calloc(1, sizeof(ucontext_t)));
  getcontext(context);
  context->uc_stack.ss_sp = f->top - 200 * 1024;
  context->uc_stack.ss_size = 200 * 1024;
  makecontext(context, entry, 0);
  f->stack = context;
}

static inline void switch_fiber(void** save, void* to) {
  if (!*save) *save = calloc(1, sizeof(ucontext_t));
  swapcontext(static_cast<ucontext_t*>(*save), static_cast<ucontext_t*>(to));
}

#endif
