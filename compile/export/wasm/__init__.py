"""The linker for WebAssembly: an object file of LLVM becomes a module without imports.

The format of objects is that of the `tool conventions`_ of WebAssembly, with the numbers of LLVM's ``BinaryFormat/Wasm.h`` and
``WasmRelocs.def``; that of modules is the `binary format`_ of the specification.

.. _tool conventions: https://github.com/WebAssembly/tool-conventions/blob/main/Linking.md
.. _binary format: https://webassembly.github.io/spec/core/binary/
"""
