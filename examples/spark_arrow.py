"""Add token ids to the Parquet files of a corpus with Spark 4.1 or later, as a UDF on Arrow arrays.

The arguments are a table, Parquet files or a folder with Parquet files, and an output folder that does not exist yet::

    spark-submit examples/spark_arrow.py bert.npz reviews/ -o reviews-ids/ --column text
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import click
import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql import Column, SparkSession
from pyspark.sql.functions import arrow_udf

import fst


@cache
def loaded(name: str) -> fst.Tokenizer:
    """The tokenizer of a Python worker, which later tasks reuse. The table file is mapped, so all workers of a machine share its memory."""
    return fst.Tokenizer.load(SparkFiles.get(name))


def input_ids(spark: SparkSession, table: str, column: str) -> Column:
    """A column expression for the ids of a text column.

    Spark sends the table and this module to each machine with the job. The code is in a module, because workers keep the data of an
    imported module, but not the data of a script.
    """
    spark.sparkContext.addFile(table)
    spark.sparkContext.addPyFile(__file__)
    name = Path(table).name

    def encode(texts: pa.Array) -> pa.Array:
        return loaded(name).encode_arrow(texts, threads=1)  # Spark runs one worker per core

    return arrow_udf(encode, "array<int>")(column)


@click.command()
@click.argument("table")
@click.argument("inputs", nargs=-1, required=True)
@click.option("-o", "--output", required=True, help="The folder to make, and to write Parquet files into.")
@click.option("--column", default="text", show_default=True, help="The column of text.")
def main(table: str, inputs: tuple[str, ...], output: str, column: str) -> None:
    """Add a column of token ids to Parquet files."""
    spark = SparkSession.builder.appName("fst").getOrCreate()
    spark.read.parquet(*inputs).withColumn("input_ids", input_ids(spark, table, column)).write.parquet(output)


if __name__ == "__main__":
    import spark_arrow

    spark_arrow.main()  # call the module, not this script: see `input_ids`
