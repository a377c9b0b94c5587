"""CUDA and HIP from modules with launches: kernels (``gpu_kernel.py``), and a host function with the entry's signature that allocates,
copies, launches and frees.

Errors of the runtime are not lost: an entry that returns a status returns the error (as something that is not its success), one that
returns nothing prints the error and its place, and ends the program. Memory that is allocated by then is left to the end of the process.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from synth.codegen.base import BaseEmitter
from synth.codegen.gpu_dialect import GpuDialect
from synth.codegen.gpu_kernel import (
    RESERVED,
    KernelEmitter,
    Parameters,
    Shape,
    anonymous,
    dynamic_arrays,
    kernel_names,
    kernel_stem,
    parameters_of,
    vector_buffers,
)
from synth.codegen.gpu_values import GpuValues
from synth.codegen.names import identifiers
from synth.errors import UnsupportedError
from synth.ir.builder import int_value, is_const
from synth.ir.dtypes import DType, Type, scalar
from synth.ir.grammar import (
    Alloc,
    Body,
    Call,
    Cast,
    Const,
    Expr,
    Launch,
    Load,
    Module,
    Region,
    Return,
    Scope,
    Space,
    Stmt,
    Store,
    Sym,
    Sync,
)
from synth.ir.traversal import bodies, module_symbols, stmt_exprs, walk, walk_expr
from synth.spec import DeviceSpec

CONSTANT_LIMIT = 64 * 1024  # bytes of __constant__ memory (CUDA C++ Programming Guide, "Technical Specifications")
_OF_HOST = (Space.HOST, Space.LOCAL)
_FILL_THREADS = 256
_PACK = {DType.I8: "b", DType.U8: "B", DType.I16: "h", DType.U16: "H", DType.I32: "i", DType.U32: "I", DType.I64: "q", DType.U64: "Q"}


@dataclass(slots=True)
class HostEmitter(GpuValues):
    """Prints the entry. ``spaces`` and ``shapes`` are those of all buffers outside launches; ``kernels`` the text of each kernel by what it
    is without the names of its parameters."""

    spec: DeviceSpec = field(kw_only=True)
    spaces: dict[Sym, Space] = field(default_factory=dict)
    types: dict[Sym, Type] = field(default_factory=dict)
    scalars: frozenset[Sym] = frozenset()
    order: dict[Sym, int] = field(default_factory=dict)
    managed: frozenset[Sym] = frozenset()
    device_params: bool = False
    constants: list[str] = field(default_factory=list)
    kernels: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    releases: dict[str, str] = field(default_factory=dict)

    # ----------------------------------------------------------------------------------------------------- memory

    def checked(self, call: str) -> None:
        self.line(f"{self.dialect.check}({call});")

    def free(self, bodies: list[tuple[bool, list[str]]]) -> None:
        for _, names in reversed(bodies):
            for name in reversed(names):
                if name in self.releases:
                    self.checked(f"{self.dialect.api('Free')}({name})")
                else:
                    self.line(f"free({name});")

    def alloc(self, s: Alloc, following: Stmt | None) -> bool:
        if s.space in _OF_HOST:
            return GpuValues.alloc(self, s, following)
        self.element_types[s.sym] = self.type_name(s.dtype)
        if s.space is Space.CONST:
            self.constant_array(s)
        elif s.space is Space.GLOBAL:
            self.device_array(s)
        else:
            raise UnsupportedError(f"the host allocates '{s.sym.name}' in {s.space.value} memory", s.loc)
        return False

    def array_qualifier(self, s: Alloc) -> str:
        return ""

    def constant_array(self, s: Alloc) -> None:
        """A ``__constant__`` array at file scope. One that the program writes starts anew at each call, as the program says."""
        sizes = [int_value(extent) for extent in s.shape]
        known = [size for size in sizes if size is not None]
        if len(known) != len(sizes):
            raise UnsupportedError(f"constant array '{s.sym.name}' has a size that is not constant", s.loc, "use a constant size")
        dims = "".join(f"[{n}]" for n in known)
        name, c = self.names[s.sym], self.type_name(s.dtype)
        written = s.sym in self.written
        if s.init is None or (written and all(v.value == 0 for v in s.init)):
            self.constants.append(f"__constant__ {c} {name}{dims};")
        else:
            self.constants.append(f"__constant__ {c} {name}{dims} = {self.table(s, known)};")
        if written and s.init is not None and not self.overwritten(s):
            initial = self.fresh(f"{name}_initial")
            self.line(f"static const {c} {initial}{dims} = {self.table(s, known)};")
            symbol = self.dialect.symbol.format(name=name)
            self.checked(f"{self.dialect.api('MemcpyToSymbol')}({symbol}, {'&' if not dims else ''}{initial}, sizeof {initial})")

    def overwritten(self, s: Alloc) -> bool:
        """Whether the first thing that the entry does with an array, outside branches and loops, is to write all of it."""
        total = 1
        for extent in s.shape:
            total *= int_value(extent) or 0
        for stmt in self.module.body:
            if isinstance(stmt, Call) and stmt.op == "host.copy" and stmt.dests[0].buf == s.sym:
                region = stmt.dests[0]
                return all(is_const(i, 0) for i in region.index) and [int_value(e) for e in region.extent] == [total]
            if not isinstance(stmt, Call | Alloc) and bodies(stmt):
                return False
        return False

    def table(self, s: Alloc, sizes: list[int]) -> str:
        values = s.init or ()
        return self.initialiser(values, sizes) if s.shape else self.expr(values[0])

    def device_array(self, s: Alloc) -> None:
        name, c = self.names[s.sym], self.type_name(s.dtype)
        if len(s.shape) > 1:
            raise UnsupportedError(f"device array '{s.sym.name}' has more than one dimension", s.loc, "flatten it")
        count = self.count(s.shape)
        self.line(f"{c} *{name} = NULL;")
        allocate = self.dialect.api("MallocManaged" if s.sym in self.managed else "Malloc")
        self.checked(f"{allocate}((void **)&{name}, {count} * sizeof({c}))")
        self.releases[name] = name
        self.heap[-1][1].append(name)
        if s.init is None:
            return
        if all(v.value == 0 for v in s.init):
            self.checked(f"{self.dialect.api('Memset')}({name}, 0, {count} * sizeof({c}))")
            return
        initial = self.fresh(f"{name}_initial")
        self.line(f"static const {c} {initial}[{len(s.init)}] = {self.initialiser(s.init, [len(s.init)])};")
        self.checked(f"{self.dialect.api('Memcpy')}({name}, {initial}, sizeof {initial}, {self.kind(Space.GLOBAL, Space.HOST)})")

    # ------------------------------------------------------------------------------------------------- statements

    def stmt(self, s: Stmt) -> None:
        match s:
            case Launch():
                self.launch(s)
            case Sync(Scope.DEVICE):
                self.checked(f"{self.dialect.api('DeviceSynchronize')}()")
            case _:
                GpuValues.stmt(self, s)

    def element(self, buf: Sym, index: tuple[Expr, ...]) -> str:
        if self.spaces.get(buf) is Space.CONST:
            raise UnsupportedError(f"the host reads or writes the constant array '{buf.name}' directly", None, "copy it")
        text = GpuValues.element(self, buf, index)
        return f"(*{text})" if buf in self.scalars and self.spaces.get(buf) is Space.GLOBAL else text

    def call(self, s: Call) -> None:
        match s.op, s.dests, s.args:
            case "host.copy", (Region() as target,), (Region() as source,):
                self.copy(target, source, s)
            case "host.fill", (Region() as target,), (value,) if not isinstance(value, Region) and self.space(target) is Space.GLOBAL:
                self.fill(target, value)
            case _:
                GpuValues.call(self, s)

    def space(self, region: Region) -> Space:
        return self.spaces[region.buf]

    def bytes_of(self, region: Region) -> str:
        return f"{self.count(region.extent)} * sizeof({self.element_types[region.buf]})"

    def start(self, region: Region) -> str:
        """The address of a region, of host or device: device memory is not read for it."""
        name = self.names[region.buf]
        if not region.index:
            return name if self.space(region) is Space.GLOBAL else f"&{name}"
        if all(is_const(i, 0) for i in region.index) and len(region.index) == 1:
            return name
        if self.space(region) is Space.GLOBAL:
            return f"{name} + {self.expr(region.index[0], 10)}"
        return "&" + GpuValues.element(self, region.buf, region.index)

    def copy(self, target: Region, source: Region, s: Call) -> None:
        to, from_ = self.space(target), self.space(source)
        size = self.bytes_of(target)
        if to in _OF_HOST and from_ in _OF_HOST:
            self.line(f"memcpy({self.start(target)}, {self.start(source)}, {size});")
        elif Space.CONST in (to, from_):
            if to is from_:
                raise UnsupportedError("a copy between constant arrays", s.loc, "copy through an array")
            symbol, other, function = (target, source, "MemcpyToSymbol") if to is Space.CONST else (source, target, "MemcpyFromSymbol")
            name = self.dialect.symbol.format(name=self.names[symbol.buf])
            first, second = (name, self.start(other)) if to is Space.CONST else (self.start(other), name)
            offset = self.flat_offset(symbol, s)
            self.checked(f"{self.dialect.api(function)}({first}, {second}, {size}, {offset}, {self.kind(to, from_)})")
        else:
            self.checked(f"{self.dialect.api('Memcpy')}({self.start(target)}, {self.start(source)}, {size}, {self.kind(to, from_)})")

    def flat_offset(self, region: Region, s: Call) -> str:
        if all(is_const(i, 0) for i in region.index):
            return "0"
        if len(region.index) != 1:
            raise UnsupportedError("a copy of a part of a constant array of several dimensions", s.loc, "copy all of it")
        return f"{self.expr(region.index[0], 11)} * sizeof({self.element_types[region.buf]})"

    def kind(self, to: Space, from_: Space) -> str:
        words = ["Host" if space in _OF_HOST else "Device" for space in (from_, to)]
        return f"{self.dialect.prefix}Memcpy{words[0]}To{words[1]}"

    def fill(self, target: Region, value: Expr) -> None:
        byte = repeated_byte(value)
        if byte is not None:
            self.checked(f"{self.dialect.api('Memset')}({self.start(target)}, {byte}, {self.bytes_of(target)})")
        else:
            self.fill_kernel(target, value)
        if self.managed:
            self.checked(f"{self.dialect.api('DeviceSynchronize')}()")

    def fill_kernel(self, target: Region, value: Expr) -> None:
        dtype = scalar(value.type)
        c, name = self.type_name(dtype), f"fill_{dtype}"
        self.kernels.setdefault(
            name,
            (
                name,
                [
                    f"__global__ void {name}({c} *p, {c} value, size_t count) {{",
                    "    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;",
                    "    if (i < count) p[i] = value;",
                    "}",
                ],
            ),
        )
        count = self.fresh("count")
        self.line(f"const size_t {count} = {self.count(target.extent)};")
        blocks = f"(unsigned)(({count} + {_FILL_THREADS - 1}) / {_FILL_THREADS})"
        self.line(f"if ({count} > 0) {{")
        self.indent += 1
        self.line(f"{name}<<<{blocks}, {_FILL_THREADS}>>>({self.start(target)}, {self.expr(value)}, {count});")
        self.checked(f"{self.dialect.api('GetLastError')}()")
        self.indent -= 1
        self.line("}")

    # --------------------------------------------------------------------------------------------------- launches

    def launch(self, s: Launch) -> None:
        given = parameters_of(s, self.spaces, self.order)
        name = self.kernel_of(s, given)
        shape = Shape.of(s)
        dynamic = dynamic_arrays(shape, self.spec.shared_bytes)
        grid, block = (self.dimensions(shape.extents(kind)) for kind in ("block", "thread"))
        configuration = [grid, block]
        if dynamic.arrays:
            size, static = str(int_value(dynamic.total)), int_value(dynamic.total)
            if static is None:
                size = self.fresh("shared_bytes")
                self.line(f"const size_t {size} = {self.expr(dynamic.total)};")
            configuration.append(size)
            if self.dialect.name == "cuda" and (static is None or static > self.spec.shared_bytes):
                self.checked(f"cudaFuncSetAttribute({name}, cudaFuncAttributeMaxDynamicSharedMemorySize, (int){size})")
        arguments = [self.names[b] for b in given.buffers]
        arguments += [self.names[sym] for sym, _ in (*given.values, *given.loads)]
        self.line(f"{name}<<<{', '.join(configuration)}>>>({', '.join(arguments)});")
        self.checked(f"{self.dialect.api('GetLastError')}()")
        if self.managed:
            self.checked(f"{self.dialect.api('DeviceSynchronize')}()")

    def dimensions(self, extents: tuple[Expr, Expr, Expr]) -> str:
        texts = [self.expr(e if e.type is DType.U32 or isinstance(e, Const) else Cast(e, DType.U32)) for e in extents]
        plain = [str(int_value(e)) if int_value(e) is not None else text for e, text in zip(extents, texts, strict=True)]
        while len(plain) > 1 and plain[-1] == "1":
            plain.pop()
        return plain[0] if len(plain) == 1 else f"dim3({', '.join(plain)})"

    def kernel_of(self, s: Launch, given: Parameters) -> str:
        """The name of the kernel of a launch, printed when no kernel with the same text is there."""
        fixed = {sym: self.names[sym] for sym, space in self.spaces.items() if space is Space.CONST}
        names = kernel_names(s, given, self.module, fixed)
        key = "\n".join(self.kernel_text("kernel", s, given, anonymous(given, names)))
        if key not in self.kernels:
            name = self.free_name(kernel_stem(s.kernel), names)
            self.kernels[key] = (name, self.kernel_text(name, s, given, names))
        return self.kernels[key][0]

    def kernel_text(self, name: str, s: Launch, given: Parameters, names: dict[Sym, str]) -> list[str]:
        emitter = KernelEmitter(
            self.module,
            dict(names),
            self.helpers,
            dialect=self.dialect,
            aligned=self.aligned,
            halves=self.halves,
            shared_limit=self.spec.shared_bytes,
            types={sym: self.types[sym] for sym in given.buffers},
            scalars=self.scalars & frozenset(given.buffers),
            own=frozenset(given.buffers) - {p.sym for p in self.module.params},
        )
        return emitter.kernel(name, s, given)

    def free_name(self, stem: str, names: dict[Sym, str]) -> str:
        taken = RESERVED | {self.module.name} | {name for name, _ in self.kernels.values()} | set(self.names.values()) | set(names.values())
        if stem in RESERVED or stem == self.module.name:
            stem = f"{stem}_kernel"
        name, number = stem, 2
        while name in taken:
            name, number = f"{stem}_{number}", number + 1
        return name

    # ---------------------------------------------------------------------------------------------------- the file

    def return_text(self) -> str:
        return BaseEmitter.return_text(self)

    def body(self, stmts: Body, *, loop: bool = False) -> None:
        outermost = stmts is self.module.body
        if outermost and self.device_params and not (stmts and isinstance(stmts[-1], Return)):
            stmts = (*stmts, Sync(Scope.DEVICE))
        GpuValues.body(self, stmts, loop=loop)


def repeated_byte(value: Expr) -> int | None:
    """The byte of which a literal consists, so that ``memset`` writes it; None for other values."""
    if not isinstance(value, Const):
        return None
    if value.value == 0 and not str(value.value).startswith("-"):
        return 0
    if value.type is DType.BOOL:
        return int(bool(value.value))
    if value.type in _PACK:
        found = set(struct.pack(_PACK[value.type], int(value.value)))
        return found.pop() if len(found) == 1 else None
    return None


def emit(module: Module, spec: DeviceSpec, dialect: GpuDialect) -> str:
    """The whole file. Raises UnsupportedError naming what has no form in the dialect."""
    if not any(isinstance(s, Launch) for s in walk(module.body)):
        raise UnsupportedError(f"module '{module.name}' has no launch: it is no {dialect.title} program", hint="bind its loops first")
    allocated = [s for s in host_statements(module.body) if isinstance(s, Alloc)]
    spaces = {p.sym: p.space for p in module.params if p.is_buffer} | {s.sym: s.space for s in allocated}
    types: dict[Sym, Type] = {p.sym: p.dtype for p in module.params if p.is_buffer}
    types |= {s.sym: s.dtype for s in allocated}
    device_vectors = vector_buffers(module.body) if module.dialect in ("cuda", "hip") else frozenset()
    emitter = HostEmitter(
        module,
        identifiers(module, RESERVED | {"CUDA_CHECK", "HIP_CHECK"}),
        dialect=dialect,
        spec=spec,
        aligned=device_vectors,
        spaces=spaces,
        types=types,
        scalars=frozenset(s.sym for s in allocated if not s.shape),
        order={sym: i for i, sym in enumerate(module_symbols(module))},
        managed=touched_by_host(module.body, spaces),
        device_params=any(p.is_buffer and p.space is Space.GLOBAL for p in module.params),
    )
    emitter.function()
    return "\n".join([*_head(emitter, spec), *_kernels(emitter), 'extern "C"', *emitter.lines]) + "\n"


def _head(emitter: HostEmitter, spec: DeviceSpec) -> list[str]:
    dialect, module = emitter.dialect, emitter.module
    halves = [dialect.half_headers[d] for d in (DType.F16, DType.BF16) if d in emitter.halves]
    headers = [*dialect.headers, *halves, "math.h", "stdint.h", "stdio.h", "stdlib.h", "string.h"]
    return [
        f"// {module.name}: {dialect.title} for {spec.name}, generated by xpiler.",
        f"// Build: {dialect.build(spec)}",
        *(f"#include <{name}>" for name in headers),
        "",
        *_check_macro(dialect, module.result),
        "",
    ]


def _check_macro(dialect: GpuDialect, result: Const | None) -> list[str]:
    p = dialect.prefix
    error = f"{p}Error_t status_ = (call);"
    if result is not None:
        c = {DType.BOOL: "bool", DType.U32: "unsigned", DType.I32: "int"}.get(result.type, "int")
        failure = f"({c})status_" if result.value == 0 else "0"
        action = [f"    if (status_ != {p}Success) return {failure}; \\"]
    else:
        action = [
            f"    if (status_ != {p}Success) {{ \\",
            f'      fprintf(stderr, "%s:%d: %s\\n", __FILE__, __LINE__, {p}GetErrorString(status_)); \\',
            "      exit(EXIT_FAILURE); \\",
            "    } \\",
        ]
    return [f"#define {dialect.check}(call) \\", "  do { \\", f"    {error} \\", *action, "  } while (0)"]


def _kernels(emitter: HostEmitter) -> list[str]:
    lines: list[str] = []
    for text in emitter.helpers.values():
        lines += [text]
    lines += [""] if lines else []
    lines += [*emitter.constants, ""] if emitter.constants else []
    for _, text_lines in emitter.kernels.values():
        lines += [*text_lines, ""]
    return lines


def host_statements(body: Body) -> list[Stmt]:
    """Statements outside launches."""
    found: list[Stmt] = []
    for s in body:
        found.append(s)
        if not isinstance(s, Launch):
            for inner in bodies(s):
                found += host_statements(inner)
    return found


def touched_by_host(body: Body, spaces: dict[Sym, Space]) -> frozenset[Sym]:
    """Arrays in device memory that code of the host reads or writes itself: they are managed memory."""
    found: set[Sym] = set()
    for s in host_statements(body):
        found |= {e.buf for whole in stmt_exprs(s) for e in walk_expr(whole) if isinstance(e, Load)}
        if isinstance(s, Store):
            found.add(s.buf)
    return frozenset(sym for sym in found if spaces.get(sym) is Space.GLOBAL)
