"""Functions that need both the compiler and the runtime. Outside of this package, compiler and runtime do not import each other."""
