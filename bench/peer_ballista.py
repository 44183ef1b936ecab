"""A Ballista cluster and its client, for bench/peers.py.

usage: bench/peer_ballista.py DIRECTORY SCHEDULER_PORT EXECUTOR_PORT

A scheduler and an executor with two tasks; each directory in DIRECTORY is a table of Parquet files. For each line of input, a statement as JSON,
there is a line of output, as JSON: the seconds to the last row, and the rows, or the error. Needs the environment
that bench/peers.sh makes.
"""

import json
import pathlib
import socket
import sys
import time

from ballista import BallistaExecutor, BallistaScheduler, BallistaSessionContext

# What made it fastest on two cores.
SETTINGS = {"datafusion.execution.target_partitions": "2", "ballista.planner.adaptive.enabled": "true"}


def run(ctx, sql):
    begun = time.perf_counter()
    rows = sum(batch.num_rows for batch in ctx.sql(sql).collect())
    return {"seconds": time.perf_counter() - begun, "rows": rows}


def wait_for(port):
    """An executor that finds no scheduler dies without a word, and every query waits for it."""
    for _ in range(300):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    sys.exit(f"the scheduler does not listen on port {port}")


def main():
    directory, scheduler_port, executor_port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    scheduler = BallistaScheduler("127.0.0.1", scheduler_port)
    scheduler.start()
    wait_for(scheduler_port)
    executor = BallistaExecutor(executor_port, "127.0.0.1", "127.0.0.1", scheduler_port, 2)
    executor.start()
    wait_for(executor_port)
    ctx = BallistaSessionContext(f"df://127.0.0.1:{scheduler_port}", cluster_config=SETTINGS)
    for table in pathlib.Path(directory).iterdir():
        ctx.sql(f"CREATE EXTERNAL TABLE {table.name} STORED AS PARQUET LOCATION '{table}/'")
    for line in sys.stdin:
        try:
            answer = run(ctx, json.loads(line))
        except Exception as e:  # whatever it is, it is the answer
            answer = {"error": str(e)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
