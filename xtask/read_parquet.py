"""Another implementation reads the Parquet of a sweep: it must say what the CSV says, cell by cell, in the types that it infers there."""

import csv
import sys

import pyarrow
import pyarrow.csv
import pyarrow.parquet

directory = sys.argv[1]
table = pyarrow.parquet.read_table(f"{directory}/results.parquet")
with open(f"{directory}/results.csv", newline="") as file:
    header, *rows = csv.reader(file)

assert table.column_names == header, (table.column_names, header)
assert table.num_rows == len(rows) > 0, (table.num_rows, len(rows))
kinds = {pyarrow.string(): str, pyarrow.int64(): int, pyarrow.float64(): float, pyarrow.bool_(): "true".__eq__}
inferred = pyarrow.csv.read_csv(f"{directory}/results.csv")
for column in inferred.schema:
    # A column without values has no type in CSV.
    assert column.type in (table.schema.field(column.name).type, pyarrow.null()), (column, table.schema.field(column.name))
for index, (name, column) in enumerate(zip(header, table.columns)):
    kind = kinds[column.type]
    for row, found in zip(rows, column.to_pylist()):
        expected = kind(row[index]) if row[index] else None
        assert found == expected, (name, found, row[index])
print(f"pyarrow {pyarrow.__version__}: {len(rows)} rows of {len(header)} columns are those of the CSV")
