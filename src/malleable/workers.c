/* Recognises the workers of thread pools. Those of ONNX Runtime start in its library.
 *
 * Those of Eigen::ThreadPool steal work: any worker takes any task, so some of them may rest.
 * They cannot be recognised by name, and Eigen is compiled into each program, so they are
 * recognised by type. std::thread passes an object to a function of libstdc++; the first type
 * below is that of an object that holds a std::function; the std::function knows the type of
 * what it holds, a lambda in the constructor of Eigen::ThreadPoolTempl. Type names remain in
 * stripped programs, and their layout is part of the C++ ABI of GCC and Clang. A program without
 * them (-fno-rtti), or with a libstdc++ of its own, is not recognised and runs as usual. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "malleable/workers.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* std::type_info */
struct type {
    const void *table;
    const char *name;
};

/* std::function<void()> */
struct function {
    const void *held[2];
    bool (*manager)(void *out, const struct function *of, int operation);
    const void *invoker;
};

/* std::thread::_State_impl, with a std::function */
struct thread_state {
    const struct type *const *table; /* the type is stored before the first function */
    struct function function;
};

static const char holds_function[] =
    "NSt6thread11_State_implINS_8_InvokerISt5tupleIJSt8functionIFvvEEEEEEEE";
static const char eigen[] = "5Eigen15ThreadPoolTempl";

static const struct type *type_held(const struct function *f)
{
    enum { GET_TYPE = 0 };
    const struct type *type = NULL;
    if (f->manager)
        f->manager(&type, f, GET_TYPE);
    return type;
}

static bool is_eigen(const struct thread_state *state)
{
    const struct type *type = state->table[-1];
    if (!type || strcmp(type->name, holds_function) != 0)
        return false;
    type = type_held(&state->function);
    return type && strstr(type->name, eigen);
}

enum worker workers_recognise(void *(*start)(void *), void *arg)
{
    Dl_info info;
    if (!dladdr((void *)start, &info) || !info.dli_fname)
        return WORKER_NONE;
    const char *slash = strrchr(info.dli_fname, '/'), *base = slash ? slash + 1 : info.dli_fname;
    if (strncmp(base, "libonnxruntime.", strlen("libonnxruntime.")) == 0)
        return WORKER_ONNX;
    bool eigens = strncmp(base, "libstdc++.", strlen("libstdc++.")) == 0 && arg && is_eigen(arg);
    return eigens ? WORKER_STEALS : WORKER_NONE;
}
