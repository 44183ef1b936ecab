-- One statement a line: it fails when it runs, and so must the statement written back.
select a,(select b from r where r.s=t.s) from t
select strptime(s,'%Y') from t
select strptime(s,['%Y','%Y-%m']) from t
select to_timestamp(f) from t
select s::int from t
select from_base64(s) from t
select unhex(s) from t
select ln(f) from t
select log(f) from t
select log10(f) from t
select log2(f) from t
select sin(f) from t
select s->'$.a' from t
select s->>'a' from t
select json_extract(s,'$.a') from t
select error('x') from t
select f::decimal(10,2) from t
select s::json from t
select json_array_length(s) from t
