"""Measures the drivers of this folder in turns, and prints a table of medians and of how they compare."""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# What each workload is, as the table says it.
WORKLOADS = {
    "start_up": "process start, ten steps, end",
    "chain": "1,000 steps of a chain of 100 nodes",
    "messages": "200 turns, each adds a message of 1 KiB (SQLite)",
    "fan_out": "1,000 sends to one node, gathered",
    "subgraphs": "200 sends, each a subgraph of 3 nodes",
    "wide": "100 steps, each writes 20 of 200 fields (in memory)",
    "threads": "1,000 threads of 10 steps at once (SQLite)",
    "interrupts": "100 threads: ask, answer, go on (SQLite)",
    "tokens": "10,000 tokens of a model, read as a stream",
}

# A turn that takes longer than this, in seconds, is made fewer times.
LONG = 10.0


class Driver:
    """A process that runs a workload for each line that it is given."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def seconds(self, workload):
        self.process.stdin.write(workload + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"compare: {self.process.args[0]} failed at {workload}")
        return float(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Process:
    """A command that is started anew each time."""

    def __init__(self, command):
        self.command = command

    def seconds(self, _workload):
        begin = time.perf_counter()
        subprocess.run(self.command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin

    def close(self):
        pass


def peers(args, workload):
    python = os.path.join(args.place, "python", "bin", "python")
    flow = os.path.join(HERE, "flows", "count.graph")
    if workload == "start_up":
        return {
            "graphc": Process([args.graphc, "run", flow, "--store", "memory", "--input", '{"n": 0}']),
            "Python": Process([python, os.path.join(HERE, "start_up.py")]),
            "JavaScript": Process(["node", os.path.join(args.place, "start_up.mjs")]),
        }
    return {
        "graphc": Driver([args.driver, "--bench"]),
        "Python": Driver([python, os.path.join(HERE, "langgraph_python.py")]),
        "JavaScript": Driver(["node", os.path.join(args.place, "langgraph_js.mjs")]),
    }


def measure(args, workload):
    """The medians of a workload: each turn measures every peer once, so that what else the machine does hits all."""
    drivers = peers(args, workload)
    # The first time is not counted: files are read and code is made then. Of a long one it is.
    taken = {name: [driver.seconds(workload)] for name, driver in drivers.items()}
    turns = args.turns
    if max(first for [first] in taken.values()) > LONG:
        turns = min(turns - 1, 2)
    else:
        taken = {name: [] for name in drivers}
    for turn in range(turns):
        print(f"compare: {workload}, turn {turn + 1} of {turns}", file=sys.stderr, flush=True)
        for name, driver in drivers.items():
            taken[name].append(driver.seconds(workload))
    for driver in drivers.values():
        driver.close()
    return {name: statistics.median(times) for name, times in taken.items()}


def shown(seconds):
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def main():
    parser = argparse.ArgumentParser(prog="benches/compare/run", description=__doc__)
    for name in ["place", "driver", "graphc"]:
        parser.add_argument(f"--{name}", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--turns", type=int, default=5, help="how often each is measured")
    parser.add_argument("workload", nargs="*", help=f"of {', '.join(WORKLOADS)}; all where left out")
    args = parser.parse_args()
    for name in args.workload:
        if name not in WORKLOADS:
            parser.error(f"there is no workload `{name}`: they are {', '.join(WORKLOADS)}")
    print(f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores; medians of {args.turns} turns\n")
    print("| workload | graphc | LangGraph, Python | ratio | LangGraph, JavaScript | ratio |")
    print("|---|---|---|---|---|---|")
    for workload in args.workload or WORKLOADS:
        found = measure(args, workload)
        own = found["graphc"]
        cells = [WORKLOADS[workload], shown(own)]
        for name in ["Python", "JavaScript"]:
            cells += [shown(found[name]), f"{found[name] / own:.0f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
