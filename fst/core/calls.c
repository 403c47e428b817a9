/* Calls of native kernels from Python, see native.py. Compiled for Python's stable ABI. */
#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define MOST 512 /* words of a call */

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

static PyMethodDef methods[] = {{"caller", caller, METH_VARARGS, NULL}, {"set_form", set_form, METH_VARARGS, NULL}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "calls", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit_calls(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy"), *module = PyModule_Create(&definition);
    array_type = numpy ? (PyTypeObject *)PyObject_GetAttrString(numpy, "ndarray") : NULL;
    Py_XDECREF(numpy);
    if (!array_type || !module || PyModule_AddObject(module, "CHARACTERS", PyLong_FromVoidPtr((void *)characters)) < 0)
        return NULL;
    return module;
}
