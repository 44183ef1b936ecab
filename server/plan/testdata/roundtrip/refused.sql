-- One statement a line: its plan is refused, so that the original statement runs.
select * from t, range(a)
select a from t tablesample 100%
select a from t limit 50%
select histogram(a,[1,5,10]), bitstring_agg(ti)::VARCHAR from t
select alias(a) from t
