"""The tables of TPC-H."""

TABLES = ["customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"]
