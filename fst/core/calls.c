/* Calls of native kernels from Python, see native.py. Compiled for Python's stable ABI, which free-threaded Python lacks: for one version of
   the latter, Py_GIL_DISABLED is defined. */
#ifndef Py_GIL_DISABLED
#define Py_LIMITED_API 0x030A0000
#endif
#include <Python.h>
#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#define MOST 384 /* words of a call; a page of the stack has room for them, see __chkstk of Windows */

typedef struct {
    uint64_t (*entry)(uint64_t *words);
    int releases;     /* whether to run without the interpreter's lock */
    char results[12]; /* a letter for each result, see native.py */
} Kernel;

/* The first fields of an array in NumPy's ABI, after Python's. */
typedef struct {
    void *data;
    int axes;
    const Py_ssize_t *shape;
} Array;

static PyTypeObject *array_type;
static unsigned kind_at, ascii_size, other_size; /* the form of a str */

/* Write the words of an argument; return their new number, or -1 with an exception. The order is that of prepared.py. */
static Py_ssize_t put(PyObject *argument, uint64_t *words, Py_ssize_t count)
{
    if (count + 8 > MOST) {
        PyErr_SetString(PyExc_SystemError, "a kernel has too many arguments");
        return -1;
    }
    if (PyObject_TypeCheck(argument, array_type)) {
        const Array *array = (const Array *)((const char *)argument + sizeof(PyObject));
        words[count++] = (uintptr_t)array->data;
        for (int axis = 0; axis < array->axes && count < MOST; axis++)
            words[count++] = (uint64_t)array->shape[axis];
    } else if (PyTuple_Check(argument)) {
        Py_ssize_t size = PyTuple_Size(argument);
        for (Py_ssize_t index = 0; index < size && count >= 0; index++)
            count = put(PyTuple_GetItem(argument, index), words, count);
    } else if (PyUnicode_Check(argument) || PyType_Check(argument)) {
        words[count++] = (uintptr_t)argument;
    } else if (PyFloat_Check(argument)) {
        double number = PyFloat_AsDouble(argument);
        memcpy(words + count++, &number, sizeof number);
    } else {
        words[count] = PyLong_AsUnsignedLongLongMask(argument); /* an int, or a number with __index__ */
        if (words[count++] == (uint64_t)-1 && PyErr_Occurred())
            return -1;
    }
    return count;
}

static PyObject *result_of(char letter, uint64_t word)
{
    double number;
    switch (letter) {
    case 'i': return PyLong_FromLongLong((int64_t)word);
    case 'u': return PyLong_FromUnsignedLongLong(word);
    case 'b': return PyBool_FromLong((long)word);
    case 'd': memcpy(&number, &word, sizeof number); return PyFloat_FromDouble(number);
    case 'o': return (PyObject *)(uintptr_t)word;
    default: Py_INCREF(Py_None); return Py_None;
    }
}

static PyObject *call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    const Kernel *kernel = (const Kernel *)PyBytes_AsString(self);
    uint64_t words[MOST], word;
    Py_ssize_t filled = 1;
    for (Py_ssize_t index = 0; index < count; index++)
        if ((filled = put(arguments[index], words, filled)) < 0)
            return NULL;
    words[0] = 0;
    if (kernel->releases) {
        PyThreadState *thread = PyEval_SaveThread();
        word = kernel->entry(words);
        PyEval_RestoreThread(thread);
    } else {
        word = kernel->entry(words);
    }
    const char *results = kernel->results;
    if (words[0]) { /* kernels raise no other exception */
        PyErr_SetString(PyExc_ZeroDivisionError, "division by zero");
        return NULL;
    }
    if (results[0] == 'o' && PyErr_Occurred()) {
        Py_XDECREF((PyObject *)(uintptr_t)word);
        return NULL;
    }
    if (!results[1])
        return result_of(results[0], word);
    PyObject *tuple = PyTuple_New((Py_ssize_t)strlen(results));
    for (Py_ssize_t index = 0; tuple && results[index]; index++) {
        PyObject *element = result_of(results[index], words[1 + index]);
        if (!element || PyTuple_SetItem(tuple, index, element)) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

static PyMethodDef call_method = {"call", (PyCFunction)(void (*)(void))call, METH_FASTCALL, "Call a kernel."};

/* caller(entry, results, releases): a function that calls a kernel. */
static PyObject *caller(PyObject *module, PyObject *arguments)
{
    unsigned long long entry;
    const char *results;
    Kernel kernel = {0};
    if (!PyArg_ParseTuple(arguments, "Ksp", &entry, &results, &kernel.releases))
        return NULL;
    kernel.entry = (uint64_t(*)(uint64_t *))(uintptr_t)entry;
    strncpy(kernel.results, results, sizeof kernel.results - 1);
    PyObject *self = PyBytes_FromStringAndSize((const char *)&kernel, sizeof kernel);
    PyObject *made = self ? PyCFunction_NewEx(&call_method, self, NULL) : NULL;
    Py_XDECREF(self);
    return made;
}

/* The characters of a str: numba_extract_unicode of numba's helpers, which is compiled for one version of Python. */
static const void *characters(PyObject *text, Py_ssize_t *length, int *kind, unsigned *is_ascii, Py_ssize_t *hash)
{
    const char *base = (const char *)text, *flags_at = base + sizeof(PyObject) + 2 * sizeof(Py_ssize_t);
    *length = PyUnicode_GetLength(text);
    unsigned flags = *(const unsigned *)flags_at >> kind_at;
    *kind = flags & 7;
    *is_ascii = flags >> 4 & 1;
    *hash = -1;
    if (!(flags & 8)) /* of a subclass */
        return *(const void *const *)(base + other_size);
    return base + (*is_ascii ? ascii_size : other_size);
}

/* set_form(position of the size of a character, size of a str of ASCII, size of others): see native.string_form. */
static PyObject *set_form(PyObject *module, PyObject *arguments)
{
    if (!PyArg_ParseTuple(arguments, "III", &kind_at, &ascii_size, &other_size))
        return NULL;
    Py_RETURN_NONE;
}

#ifdef __x86_64__
/* Bits of cpuid for each level, in addition to those of lower levels: registers c of leaf 1, b and c of leaf 7, c of leaf 0x80000001; and
   the bits of the registers that the system saves. Kernels for AVX-512 also need VBMI, which the first processors with AVX-512 lack. */
static const struct {
    const char *name;
    unsigned basic, more_b, more_c, extended, saved;
} LEVELS[] = {
    {"x86-64-v2", 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23, 0, 0, 1u << 0, 0},
    {"x86-64-v3", 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29, 1u << 3 | 1u << 5 | 1u << 8, 0, 1u << 5, 0x6},
    {"x86-64-v4", 0, 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31, 1u << 1, 0, 0xe6},
};

static const char *level_of_processor(void)
{
    unsigned a, b, c, d, basic = 0, more_b = 0, more_c = 0, extended = 0, saved = 0;
    if (__get_cpuid(1, &a, &b, &c, &d))
        basic = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
        more_b = b, more_c = c;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d))
        extended = c;
    if (basic & 1u << 27)
        __asm__ volatile("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
    const char *found = "";
    for (unsigned level = 0; level < sizeof LEVELS / sizeof *LEVELS; level++) {
        if (LEVELS[level].basic & ~basic || LEVELS[level].more_b & ~more_b || LEVELS[level].more_c & ~more_c ||
            LEVELS[level].extended & ~extended || LEVELS[level].saved & ~saved)
            break;
        found = LEVELS[level].name;
    }
    return found;
}
#elif defined(__aarch64__)
static const char *level_of_processor(void) { return "aarch64"; }
#else
static const char *level_of_processor(void) { return ""; }
#endif

/* level(): the best level of this processor, see native.py. */
static PyObject *level(PyObject *module, PyObject *arguments)
{
    return PyUnicode_FromString(level_of_processor());
}

static PyMethodDef methods[] = {
    {"caller", caller, METH_VARARGS, NULL}, {"set_form", set_form, METH_VARARGS, NULL}, {"level", level, METH_NOARGS, NULL}, {0}
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "calls", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit_calls(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy"), *module = PyModule_Create(&definition);
    array_type = numpy ? (PyTypeObject *)PyObject_GetAttrString(numpy, "ndarray") : NULL;
    Py_XDECREF(numpy);
    if (!array_type || !module || PyModule_AddObject(module, "CHARACTERS", PyLong_FromVoidPtr((void *)characters)) < 0)
        return NULL;
#ifdef Py_GIL_DISABLED
    PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED); /* else the import would switch the lock on */
#endif
    return module;
}
