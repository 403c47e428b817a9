"""The linker for WebAssembly: an object file of LLVM becomes a module without imports.

The objects have the format of WebAssembly's `tool conventions`_, with the numbers of LLVM's ``BinaryFormat/Wasm.h`` and ``WasmRelocs.def``;
the modules have the `binary format`_ of the specification.

.. _tool conventions: https://github.com/WebAssembly/tool-conventions/blob/main/Linking.md
.. _binary format: https://webassembly.github.io/spec/core/binary/
"""
