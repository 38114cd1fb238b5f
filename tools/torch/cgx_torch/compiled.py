"""Steps that torch compiles: collectives in their graphs travel as the compiler of cgx decides.

A backend of torch.compile that looks at each graph before the inner backend does. It prints the graph's sums as a program,
lets the compiler say what they reduce, how and together with what, and puts one call into the graph for each collective of the
answer.
"""

import atexit
import heapq
import operator
import re
import threading
import weakref

import torch
import torch.distributed as dist
from cgx_core import compiler
from cgx_core.choices import ERROR_FEEDBACK, check_choice, check_connection
from cgx_core.codecs import in_words
from cgx_core.context import RuntimeFailure
from cgx_core.plans import plan_file
from cgx_core.warned import Said, warn
from cgx_torch import graph as fx
from cgx_torch import module
from cgx_torch.graph_program import GraphProgram
from cgx_torch.hook import Unconnected
from cgx_torch.process_group import ProcessGroup

_KINDS = {"sum": "sum", "avg": "mean"}
_backends = weakref.WeakValueDictionary()  # by the number that the programs of graphs contain
_count = 0


def backend(model=None, *, bits=None, exclude=None, plan=None, codec=None, error_feedback=None, process_group=None, transport=None,
            seed=0, timeout=300.0, report=False, inner="inductor", name=None, **options):
    """A backend of torch.compile under which collectives of gradients travel compressed. All ranks make one, with the same
    options, and compile the same functions in the same order.

        backend = cgx_torch.backend(bits=4)
        train_step = torch.compile(train_step, backend=backend)

    In a step with functional collectives (torch.distributed._functional_collectives.all_reduce) layers are found by data flow,
    from a sum to the parameter that it changes. Under compiled DistributedDataParallel they are those of the parameters:

        torch._dynamo.config.optimize_ddp = "python_reducer"
        torch._dynamo.config.compiled_autograd = True
        backend = cgx_torch.backend(ddp_model, bits=4)
        ddp_model.register_comm_hook(backend, cgx_torch.hook)

    Args:
      model: the DistributedDataParallel whose hook takes the backend.
      inner: the backend that compiles what comes out: "inductor", or "aot_eager", which needs no C++ compiler and knows no
        compiled autograd.
      others: as of `cgx_torch.state`.

    Raises:
      RuntimeFailure: this torch cannot, or torch.distributed was not initialized.
    """
    if not hasattr(torch, "compile") or not hasattr(dist.distributed_c10d, "_resolve_process_group"):
        raise RuntimeFailure(f"cgx_torch.backend needs torch.compile with functional collectives, as of torch 2.3, and this is torch "
                             f"{torch.__version__}: register cgx_torch.hook with a DistributedDataParallel")
    if inner not in ("inductor", "aot_eager"):
        raise ValueError(f'expected inner to be "inductor" or "aot_eager", got {inner!r}')
    check_choice("error_feedback", error_feedback or None, ERROR_FEEDBACK)
    check_connection(transport, seed, timeout)
    options = in_words(dict(options, bits=bits, exclude=exclude, codec=codec, error_feedback=error_feedback))
    model, group = module.within(model)
    return Backend(model, options, plan, process_group or group or dist.group.WORLD, report, inner, name,
                   {"transport": transport, "seed": seed, "timeout": timeout})


class Backend:
    """The object that `backend` returns."""

    def __init__(self, model, options, plan, group, prints, inner, name, connection):
        global _count
        self._options, self._plan, self._connection = options, plan, connection
        self._process_group, self._group = group, ProcessGroup(group, name)
        self._prints, self._inner, self._said = prints, inner, Said()
        self._parameters = {}
        self._graphs = []  # the graphs with collectives of ours: (compilation, program)
        self._lock = threading.Lock()
        self.number, _count = _count, _count + 1
        _backends[self.number] = self
        if model is not None:
            for index, (name, parameter) in enumerate(model.named_parameters()):
                self._parameters[index] = module.name_of(name)
                parameter._cgx_index = index  # the hook is traced, and finds no key by identity there

    def __call__(self, graph_module, example_inputs):
        names = [_readable(node) for node in graph_module.graph.nodes if node.op == "placeholder"]

        def rewrite(graph):
            self._rewrite(graph, names)

        if self._inner == "inductor":
            from torch._inductor.compile_fx import compile_fx
            # The rewritten graph refers to programs of this process, so no other process may take it from the cache.
            return compile_fx(graph_module, example_inputs,
                              config_patches={"post_grad_custom_pre_pass": rewrite, "fx_graph_cache": False})
        from functorch.compile import make_boxed_func
        from torch._decomp import core_aten_decompositions
        from torch._dynamo.backends.common import aot_autograd

        def compile_graph(each, _):
            rewrite(each.graph)
            each.recompile()
            return make_boxed_func(each.forward)
        return aot_autograd(fw_compiler=compile_graph, decompositions=core_aten_decompositions())(graph_module, example_inputs)

    # ---- What users ask

    def report(self, format="text"):
        """Returns what is sent, layer by layer and graph by graph, as in `cgx_torch.state`; with format="json" a list."""
        compilations = [compilation for compilation, _ in self._graphs]
        return "".join(each.report for each in compilations) if format == "text" else [each.report_json for each in compilations]

    def telemetry(self):
        """Returns the counters of this rank, a list with one entry per graph."""
        return [program.telemetry() for _, program in self._graphs]

    def state_dict(self):
        """Returns the state of this rank's codecs and the number of the next step, graph by graph in the order of
        compilation."""
        return {"rank": self._group.rank, "ranks": self._group.ranks, "graphs": [
            {"step": program.step, "tensors": {name: torch.frombuffer(bytearray(each), dtype=torch.uint8) if each else
                                               torch.empty(0, dtype=torch.uint8) for name, each in program.state().items()}}
            for _, program in self._graphs]}

    def load_state_dict(self, state):
        """Continues from a state of `state_dict`, once the same graphs have been compiled, which is after a first step."""
        place = (self._group.rank, self._group.ranks)
        if (state["rank"], state["ranks"]) != place:
            raise ValueError(f"expected the state of rank {place[0]} of {place[1]}, got that of rank {state['rank']} of {state['ranks']}")
        if len(state["graphs"]) != len(self._graphs):
            raise ValueError(f"expected the state of {len(self._graphs)} graphs, got that of {len(state['graphs'])}: load it once the "
                             "same graphs have been compiled")
        for (_, program), saved in zip(self._graphs, state["graphs"]):
            program.load_state({name: each.cpu().numpy().tobytes() for name, each in saved["tensors"].items()})
            program.step = int(saved["step"])

    def __reduce__(self):
        return Unconnected, ()  # a copy of the model has no connection

    def close(self):
        """Closes the connections, after which compiled steps fail. Without a call they close with the process."""
        for _, program in self._graphs:
            program.close()

    # ---- What the hook of DistributedDataParallel does

    def trace(self, gradient, parameter):
        """Leaves a sum in the traced graph, with a mark that names its parameter, which the pass looks for."""
        marked = torch.ops.cgx.gradient(gradient, parameter._cgx_index)
        gradient.copy_(torch.distributed._functional_collectives.all_reduce(marked, "avg", self._process_group))

    def _reduce(self, bucket):
        raise RuntimeFailure("the hook of a cgx_torch.backend is for DistributedDataParallel that is compiled with python_reducer "
                             "and compiled autograd: here register cgx_torch.state(model)")

    # ---- The pass

    def _rewrite(self, graph, names):
        sums = [node for node in graph.nodes if fx.name_of(node) == "_c10d_functional.all_reduce" and self._takes(node)]
        marked = {node: node.args[0] for node in sums
                  if isinstance(node.args[0], torch.fx.Node) and fx.name_of(node.args[0]) == "cgx.gradient"}
        if marked:
            sums = list(marked)
        if not sums:
            return
        compilation = self._ask(graph, sums, marked, names)
        collectives = _collectives_of(compilation)
        if self._group.ranks > 1 and not (marked or any(layer["codec"] != "identity" for layer in compilation.report_json["layers"])):
            warn("a graph with collectives is left to torch: " + _reason(compilation))
            return
        if self._group.rank == 0:
            self._said.warn_of(compilation)
        if self._prints and self._group.rank == 0:
            print(compilation.report, end="", flush=True)
        inputs = repr((names, [(tuple(value.shape), str(value.dtype)) for value in map(fx.value_of, sums)]))
        program = GraphProgram(compilation, self._group, part=inputs, **self._connection)
        with self._lock:
            number = len(self._graphs)
            self._graphs.append((compilation, program))
        _apply(graph, sums, collectives, self.number, number)

    def _takes(self, node):
        """Returns true if an all-reduce sums floating-point numbers over all ranks of the group, on CPUs."""
        value, (_, kind, name) = fx.value_of(node), node.args
        if value is None or kind not in _KINDS or value.dtype not in fx.FLOATS or not all(isinstance(each, int) for each in value.shape):
            return False
        if value.device.type != "cpu":
            raise RuntimeFailure(f"cgx_torch.backend takes tensors of processors, got one on {value.device}: on GPUs register "
                                 "cgx_torch.hook with a DistributedDataParallel that is not compiled")
        group = dist.distributed_c10d._resolve_process_group(name) if isinstance(name, str) else name
        return dist.get_process_group_ranks(group) == self._group.members

    def _ask(self, graph, sums, marked, names):
        kinds = {node: _KINDS[node.args[1]] for node in sums}
        if marked:
            layers = [self._parameters[marked[node].args[1]] for node in sums]
            text = fx.text_of_means({name: fx.value_of(node) for name, node in zip(layers, sums)}, self._group.ranks)
            finding = []
        else:
            text = fx.Printer(graph, {node: index for index, node in enumerate(sums)}, kinds, names, self._group.ranks).text()
            finding = ["--cgx-import-manual-computation", "--cgx-label-layers"]
        with plan_file(self._plan) as path:
            return compiler.run(text, [*finding, compiler.pipeline("cgx-compress", dict(self._options, plan=path)), "--cgx-report",
                                       "--cgx-emit-manifest"], name="<graph>")


def _readable(node):
    """Returns the name that users know for an argument of a graph."""
    source = getattr(node.meta.get("grapharg"), "source", None) or getattr(node, "_dynamo_source", None)
    if source is None:
        return node.name
    text = source.name() if callable(source.name) else source.name
    # L['self']._modules['fc']._parameters['weight'] is a parameter as named_parameters() has it, L['params']['fc.weight'] a leaf
    # of an argument.
    if parameter := re.search(r"\._(?:parameters|buffers)\['([^']*)'\]$", text):
        path = [*re.findall(r"\._modules\['([^']*)'\]", text), parameter[1]]
        return f"model['{module.name_of('.'.join(path))}']"
    return re.sub(r"^[LG]\['([^']*)'\]", r"\1", text)


def _reason(compilation):
    said = [each.message for each in compilation.diagnostics if each.severity == "warning"]
    return "; ".join(said) or "nothing of it would be compressed"


def _collectives_of(compilation):
    """Returns [(id, numbers of the sums in it)] in the order of the program."""
    found = []
    for line in compilation.module.splitlines():
        clauses = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)  # remove quoted names, which may look like a clause
        if "cgx.all_reduce" in clauses and (origins := re.search(r" origins\(([\d, ]+)\)", clauses)):
            number = re.search(r" id\((\d+)\)", clauses)
            found.append((int(number[1]), [int(each) for each in origins[1].split(",")][::2]))
    return found


def _apply(graph, sums, collectives, backend_number, program):
    """Replaces the sums of a graph by the collectives."""
    places, before = {node: index for index, node in enumerate(graph.nodes)}, None
    travel = {number for _, numbers in collectives for number in numbers}
    for number, node in enumerate(sums):
        if number not in travel:  # one rank
            _replace(graph, node, _unmarked(node.args[0]))
    for collective, numbers in collectives:
        nodes = [sums[number] for number in numbers]
        operands = [_unmarked(node.args[0]) for node in nodes]
        with graph.inserting_after(max(nodes, key=places.get)):
            call = graph.call_function(torch.ops.cgx.all_reduce.default, (operands, before, backend_number, program, collective))
        places[call] = max(places[node] for node in nodes)
        call.meta["val"] = [fx.value_of(node) for node in nodes]
        after = call
        for index, node in enumerate(nodes):
            with graph.inserting_after(after):
                after = graph.call_function(operator.getitem, (call, index))
            after.meta["val"] = fx.value_of(node)
            places[after] = places[call]
            _replace(graph, node, after)
            before = after if index == 0 else before
    _sort(graph, places)


def _unmarked(operand):
    return operand.args[0] if fx.name_of(operand) == "cgx.gradient" else operand


def _replace(graph, node, result):
    """Removes a sum, the wait for it and its mark from a graph."""
    for waits in [each for each in node.users if fx.name_of(each) == "_c10d_functional.wait_tensor"]:
        waits.replace_all_uses_with(result)
        graph.erase_node(waits)
    node.replace_all_uses_with(result)
    mark = node.args[0]
    graph.erase_node(node)
    if fx.name_of(mark) == "cgx.gradient" and not mark.users:
        graph.erase_node(mark)


def _sort(graph, places):
    """Orders a graph so that values exist before they are used, and otherwise close to its old order. A write to a
    tensor stays after the reads that preceded it and before those that followed it."""
    nodes = list(graph.nodes)
    needs = {node: set(node.all_input_nodes) for node in nodes}
    for node in nodes:
        schema = getattr(node.target, "_schema", None)
        if node.op == "call_function" and schema is not None and schema.is_mutable:
            for written in node.all_input_nodes:
                for other in written.users:
                    if other is not node:
                        first, second = sorted((node, other), key=lambda each: places.get(each, 0))
                        needs[second].add(first)
    wanted_by = {node: [] for node in nodes}
    for node, each in needs.items():
        for need in each:
            wanted_by[need].append(node)
    left = {node: len(each) for node, each in needs.items()}
    ready = [(places[node], index, node) for index, node in enumerate(nodes) if left[node] == 0 and node.op != "output"]
    heapq.heapify(ready)
    numbers, order = {node: index for index, node in enumerate(nodes)}, []
    while ready:
        node = heapq.heappop(ready)[2]
        order.append(node)
        for waiting in wanted_by[node]:
            left[waiting] -= 1
            if left[waiting] == 0 and waiting.op != "output":
                heapq.heappush(ready, (places[waiting], numbers[waiting], waiting))
    if len(order) != len(nodes) - 1:
        raise RuntimeFailure("sums that depend on each other were to travel together: compile with group_bytes=0")
    for previous, node in zip(order, order[1:]):
        if previous.next is not node:
            previous.append(node)
    graph.lint()


# ---- What compiled graphs call

def _not_compiled(gradient, index):
    raise RuntimeFailure("the model whose hook is cgx_torch.hook was compiled with another backend: write torch.compile(..., "
                         "backend=backend), with the one that the hook was registered with")


def _all_reduce(operands, behind, backend_number, program, collective):
    found = _backends.get(backend_number)
    if found is None:
        raise RuntimeFailure("the backend of a compiled step is gone")
    return found._graphs[program][1].all_reduce(collective, operands)


def _define():
    library = torch.library.Library("cgx", "DEF")
    library.define("gradient(Tensor gradient, int index) -> Tensor")
    library.define("all_reduce(Tensor[] operands, Tensor? behind, int backend, int program, int collective) -> Tensor[]")
    library.impl("gradient", _not_compiled, "CompositeExplicitAutograd")
    library.impl("gradient", lambda gradient, index: torch.empty_like(gradient), "Meta")
    library.impl("all_reduce", _all_reduce, "CompositeExplicitAutograd")
    library.impl("all_reduce", lambda operands, *_: [each.new_empty(each.shape) for each in operands], "Meta")
    return library


_library = _define() if hasattr(torch, "compile") else None  # operations live as long as it


@atexit.register
def _close_all():
    for each in list(_backends.values()):
        each.close()
