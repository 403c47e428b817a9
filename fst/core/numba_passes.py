"""numba's compiler with only the passes that kernels need. LLVM optimizes each kernel once, together with all its parts.

numba's own pipeline optimizes and compiles each function separately, and again as a part of each function that calls it. It also emits code
for the end of each variable's life, and keeps in memory all variables that several blocks use. Kernels count no references, so they need
neither.
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import Linkage
from numba._dynfunc import make_function  # type: ignore[import-not-found]  # an extension without stubs
from numba.core import ir, typed_passes, untyped_passes
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower

PASSES = [
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    untyped_passes.GenericRewrites,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
]


# A call with more arguments than this, where each field of an array counts, takes longer than many functions that are called. LLVM removes
# unused arguments if no other module can call the function.
WIDE = 64


class KernelLibrary(JITCodeLibrary):
    """The code of a kernel and of its parts, which is optimized once. numba would run passes for reference counts first."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr and len([*function.arguments]) > WIDE:
                function.linkage = Linkage.internal
        managers = self._codegen._module_pass_manager()
        manager, *builder = managers if isinstance(managers, tuple) else [managers]  # numba 0.60 and 0.61 have no builder
        manager.run(self._final_module, *builder)


class PartLibrary(JITCodeLibrary):
    """The code of a part and of the parts that it calls. It is neither optimized nor compiled to machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class Lowering(Lower):
    """The translation to LLVM's language. A variable with one definition, which dominates all uses, becomes a value instead of memory."""

    def _find_singly_assigned_variable(self) -> None:
        definitions: dict[str, list[int]] = {}
        for offset, block in self.blocks.items():
            for assignment in block.find_insts(ir.Assign):
                definitions.setdefault(assignment.target.name, []).append(offset)
        defined_in = {name: offsets[0] for name, offsets in definitions.items() if len(offsets) == 1}
        dominators = compute_cfg_from_blocks(self.blocks).dominators()
        for offset, block in self.blocks.items():
            for name in _read_before_assigned(block) & defined_in.keys():
                # blocks are translated in the order of their offsets, so only an earlier block has defined the value
                if not (defined_in[name] < offset and defined_in[name] in dominators[offset]):
                    del defined_in[name]
        self._singly_assigned_vars, self._blk_local_varmap = set(defined_in), {}


def _read_before_assigned(block: Any) -> set[str]:
    """The names of the variables that a block reads without an earlier assignment in this block."""
    found: set[str] = set()
    assigned: set[str] = set()
    for statement in block.body:
        found |= _read(statement) - assigned
        if isinstance(statement, ir.Assign):
            assigned.add(statement.target.name)
    return found


def _read(statement: Any) -> set[str]:
    """The names of the variables that a statement reads."""
    value = statement.value if isinstance(statement, ir.Assign) else statement
    if isinstance(value, ir.Var):
        return {value.name}
    return {variable.name for variable in value.list_vars()} if hasattr(value, "list_vars") else set()


def _begin(state: Any, library: Any) -> None:
    state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(typed_passes.NativeLowering):
    """Translate a kernel, and compile it to machine code together with its parts."""

    _name = "fst_kernel_lowering"
    lowering_class = Lowering

    def run_pass(self, state: Any) -> bool:
        """Run the pass."""
        _begin(state, KernelLibrary)
        state.library.enable_object_caching()
        native: Any = super()
        return bool(native.run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(typed_passes.NativeLowering):
    """Translate a part."""

    _name = "fst_part_lowering"
    lowering_class = Lowering

    def run_pass(self, state: Any) -> bool:
        """Run the pass."""
        _begin(state, PartLibrary)
        state.flags.no_compile = True
        native: Any = super()
        native.run_pass(state)
        fndesc, env = state.cr.fndesc, state.cr.env
        # numba finds the code of a called function by its entry from Python; a part has no such entry, so its address is 0
        entry = make_function(fndesc.lookup_module(), fndesc.qualname, "", 0, env, (state.library,))
        state.targetctx.insert_user_function(entry, fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=entry)
        return True


class KernelCompiler(CompilerBase):
    """The pipeline of kernels."""

    LOWERING: Any = KernelLowering

    def define_pipelines(self) -> list[Any]:
        """The only pipeline; there is no pipeline for code with Python objects."""
        pipeline = PassManager("kernels")
        for each in (*PASSES, self.LOWERING, typed_passes.NoPythonBackend):
            pipeline.add_pass(each, each.__name__)
        pipeline.finalize()
        return [pipeline]


class PartCompiler(KernelCompiler):
    """The pipeline of functions that only kernels call."""

    LOWERING = PartLowering
