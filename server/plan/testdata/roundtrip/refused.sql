-- One statement a line: its plan is refused, so that the original statement runs.
select * from t, range(a)
select a from t tablesample 100%
select a from t limit 50%
select histogram(a,[1,5,10]), bitstring_agg(ti)::VARCHAR from t
select list_transform(l,x->x+1) from t
select list_filter(l,x->x>a) from t
select [x+a for x in l if x>1] from t
select list_reduce(l,(x,y)->x+y) from t
select list_aggregate(l,'string_agg',',') from t
select date_part(['year','month'],ts) from t
select array_to_string(l,',') from t
select alias(a) from t
