/* LLVM's OpenMP: the entry points with which a program compiled by Clang begins a parallel region.
 * The number of threads is pushed before the region; a number pushed by the program itself is left
 * alone.
 *
 * __kmpc_fork_call is variadic, and C cannot forward its arguments. So it is a few instructions
 * that save the registers, get the real function from kmpc_enter, and jump there with everything
 * restored. On processors other than these two, regions of LLVM's runtime are left alone. */
#include "malleable/real.h"
#include "malleable/target.h"

static __thread bool has_count; /* pushed by the program, for the next region */

/* Prepares a region; returns the real function. */
__attribute__((used, visibility("hidden"))) void *kmpc_enter(void *where, const void *address);

static void prepare(struct module *m, void *where)
{
    bool counted = has_count;
    has_count = false;
    unsigned threads = target_region(m, counted);
    if (counted || threads == 0)
        return;
    int32_t (*thread)(void *) = real_need(m, REAL___kmpc_global_thread_num);
    void (*push)(void *, int32_t, int32_t) = real_need(m, REAL___kmpc_push_num_threads);
    push(where, thread(where), (int32_t)threads);
}

void *kmpc_enter(void *where, const void *address)
{
    struct module *m = real_caller(address);
    if (target_is_set())
        prepare(m, where);
    return real_need(m, REAL___kmpc_fork_call);
}

#if defined __x86_64__
/* The six argument registers, and the count of vector registers in %al. */
__asm__(".pushsection .text\n"
        ".globl __kmpc_fork_call\n"
        ".type __kmpc_fork_call, @function\n"
        "__kmpc_fork_call:\n"
        ".cfi_startproc\n"
        "    endbr64\n"
        "    sub $56, %rsp\n"
        ".cfi_adjust_cfa_offset 56\n"
        "    mov %rdi, (%rsp)\n"
        "    mov %rsi, 8(%rsp)\n"
        "    mov %rdx, 16(%rsp)\n"
        "    mov %rcx, 24(%rsp)\n"
        "    mov %r8, 32(%rsp)\n"
        "    mov %r9, 40(%rsp)\n"
        "    mov %rax, 48(%rsp)\n"
        "    mov 56(%rsp), %rsi\n"
        "    call kmpc_enter\n"
        "    mov %rax, %r11\n"
        "    mov (%rsp), %rdi\n"
        "    mov 8(%rsp), %rsi\n"
        "    mov 16(%rsp), %rdx\n"
        "    mov 24(%rsp), %rcx\n"
        "    mov 32(%rsp), %r8\n"
        "    mov 40(%rsp), %r9\n"
        "    mov 48(%rsp), %rax\n"
        "    add $56, %rsp\n"
        ".cfi_adjust_cfa_offset -56\n"
        "    jmp *%r11\n"
        ".cfi_endproc\n"
        ".size __kmpc_fork_call, . - __kmpc_fork_call\n"
        ".popsection\n");
#elif defined __aarch64__
__asm__(".pushsection .text\n"
        ".globl __kmpc_fork_call\n"
        ".type __kmpc_fork_call, %function\n"
        "__kmpc_fork_call:\n"
        ".cfi_startproc\n"
        "    stp x29, x30, [sp, -80]!\n"
        ".cfi_def_cfa_offset 80\n"
        ".cfi_offset 29, -80\n"
        ".cfi_offset 30, -72\n"
        "    stp x0, x1, [sp, 16]\n"
        "    stp x2, x3, [sp, 32]\n"
        "    stp x4, x5, [sp, 48]\n"
        "    stp x6, x7, [sp, 64]\n"
        "    mov x1, x30\n"
        "    bl kmpc_enter\n"
        "    mov x16, x0\n"
        "    ldp x0, x1, [sp, 16]\n"
        "    ldp x2, x3, [sp, 32]\n"
        "    ldp x4, x5, [sp, 48]\n"
        "    ldp x6, x7, [sp, 64]\n"
        "    ldp x29, x30, [sp], 80\n"
        ".cfi_restore 29\n"
        ".cfi_restore 30\n"
        ".cfi_def_cfa_offset 0\n"
        "    br x16\n"
        ".cfi_endproc\n"
        ".size __kmpc_fork_call, . - __kmpc_fork_call\n"
        ".popsection\n");
#endif

/* The compiler names them: NOLINTBEGIN(bugprone-reserved-identifier) */

/* A conditional region, since LLVM 16. */
EXPORTED void __kmpc_fork_call_if(void *where, int32_t n, void *f, int32_t condition, void *data);
void __kmpc_fork_call_if(void *where, int32_t n, void *f, int32_t condition, void *data)
{
    struct module *m = REAL_CALLER();
    void (*real)(void *, int32_t, void *, int32_t, void *) = real_need(m, REAL___kmpc_fork_call_if);
    if (condition)
        prepare(m, where);
    real(where, n, f, condition, data);
}

EXPORTED void __kmpc_push_num_threads(void *where, int32_t thread, int32_t threads);
void __kmpc_push_num_threads(void *where, int32_t thread, int32_t threads)
{
    void (*real)(void *, int32_t, int32_t) = real_need(REAL_CALLER(), REAL___kmpc_push_num_threads);
    has_count = threads > 0;
    real(where, thread, threads);
}

/* A region that turns out not to be parallel (`if` is false) uses up the pushed number. */
EXPORTED void __kmpc_serialized_parallel(void *where, int32_t thread);
void __kmpc_serialized_parallel(void *where, int32_t thread)
{
    void (*real)(void *, int32_t) = real_need(REAL_CALLER(), REAL___kmpc_serialized_parallel);
    has_count = false;
    real(where, thread);
}

/* NOLINTEND(bugprone-reserved-identifier) */
