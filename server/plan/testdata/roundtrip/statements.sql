-- One statement a line: written back from its plan, it must give the same rows.
select d15-1,1-d15,d15*(1-d15),d15*(1-d15)*(1+d15),d15+d4,d15*d4,d15+a,d15+b,d4*a,-d15,d38+1,d18+d18,d18*d18,d15+0.5,d15*0.2,d15*2,d15/2,d15%2,d15//2,d15%d4,abs(d15-1),round(d15,1),greatest(d15,d4),coalesce(d15,0),cast(a as decimal(16,2))+d15, d15*1.10, d4-ti, d4*ti, ti+1, ti*ub, d15-ub, dec*b from t
select sum(d15*(1-d15)*(1+d4)), avg(d15), min(d15-1), max(d4*d15), sum(a), sum(b), sum(h), sum(f), avg(a), count(d15) from t
select a from t where a > 5 and s='abc' order by b
select a,sum(b) filter (where a>1), quantile_cont(f,0.5), string_agg(s,'-' order by b,a) from t group by rollup(a) order by a
select bo, grouping(bo), grouping_id(bo,e), sum(distinct b), count(*), avg(dec), sum(dec), first(a order by a), arg_min(a,b), median(b), mode(bo), histogram(a), list(a order by b, a), quantile(a,[0.1,0.5]), max(a,3), bool_and(bo), any_value(bo), count(a), min(s), stddev(f) filter(where a<4), quantile_disc(a,0.3), quantile_cont(a,[0.1,0.9]), approx_count_distinct(a) from t where f<100 group by cube(bo,e)
select bo,e,sum(a) from t group by grouping sets ((bo,e),(bo),()) having sum(a)>3
select bo,bo,sum(a), grouping(bo) from t group by grouping sets ((bo),(bo),())
select a%2, e, count(*) from t group by rollup(a%2, e) order by all
select 'x', count(*) from t group by 'x'
select count(*) from t group by ()
select distinct on (bo) bo,a from t order by bo,a desc
select distinct on (e) e,a,s from t order by e, s nulls first, a
select a from t order by a limit 5 offset 2
select a from t order by b desc nulls first, a limit 3
select a, s||'x' from t order by b nulls last, a limit 4
select a+1 as k from t order by k desc
select a from (select a from t order by a limit 3) order by a desc
select a, unnest(l) from t
select unnest(l), unnest(ll), a from t
select * from r, unnest([r.a,r.b])
select t.a, x from t, unnest(t.l) u(x)
select a, unnest(st) from t
select * from range(3)
select * from range(3) a, generate_series(1,2) b
select * from (values (1,'x'),(2,null)) v(a,b)
values (1,'x'),(2,null)
select 1
select 1 where 1=0
select count(*), sum(1) from (select 1 where 1=0)
select a from t where false
select a from t where a in (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15)
select a from t where a in (1,3,5,7,9,11,13,15,17,19,21,23)
select s from t where s in ('abc','a','b','c','d','e','f','g','h','i','j','k')
select a from t where b not in (1,3,5,7,9,11,13,15,17,19,21,23)
with recursive x as (select 1 as i union all select i+1 from x where i<3) select * from x
with recursive x(n,p) as (select a,b from r where a=0 union select r.a,r.b from r join x on r.a=x.n+2) select * from x
with recursive x as (select 1 as i union select i%3+1 from x) select count(*) from x, t
select t.a, r.s from t asof join r on t.a>=r.a
select t.a, r.s from t asof left join r on t.s=r.s and t.a>=r.a
select t.a, r.a from t positional join r
select a from t where a in (select a from r)
select a from t where b not in (select b from r)
select a from t where b not in (select b from r where b is not null)
select a, b in (select b from r) from t
select a, b not in (select b from r where b is not null) from t
select a, a in (select a from r where r.b=t.b) from t
select a, a in (select b from r where r.a=t.a) from t
select a, b not in (select b from r where r.s=t.s) from t
select a, s in (select s from r where r.a<t.a) from t
select a,(select max(b) from r where r.a=t.a) from t
select a,(select b from r where r.a=t.a) from t
select a,(select b from r where r.a<=t.a order by r.a limit 1) from t
select a,(select s from r where r.a=t.a and r.b<t.b) from t
select a,(select {'p':b,'q':s} from r where r.a=t.a) from t
select a from t where exists (select 1 from r where r.a=t.a and r.b<t.b)
select a, exists (select 1 from r where r.a=t.a and r.b<t.b) from t
select a, exists (select 1 from r where r.s=t.s) from t
select a, not exists (select 1 from r where r.b=t.b) from t
select a from t where not exists (select 1 from r where r.b=t.b)
select a, exists (select 1 from r where r.b>100) from t
select a, exists (select 1 from r where r.b is not distinct from t.b) from t
select a from t where a > all (select a from r where a<5)
select a, a > all (select b from r), a > any (select b from r), a <> all (select b from r), a = any(select b from r), a <= any(select b from r where b is not null) from t
select a from t where a > any (select b from r where r.s=t.s)
select a, a > any (select b from r where r.s=t.s) from t
select (a,b) in (select (a,b) from r), (a,b) in (select a,b from r) from t
select * from t left join r on t.a=r.a and t.b>3 and t.b<r.b
select t.a,r.b from t left join r on t.a=r.a left join r r2 on r.b=r2.b where r2.a is null
select t.a, r2.b from t left join (r left join r r2 on r.a=r2.b) on t.a=r.a
select t.a from t join r on t.a+r.a=3
select t.a, r.a from t join r on t.a<r.a join r r2 on r2.b=r.b and r2.a<>t.a
select a from t full join r using (a)
select t.a, r.a, t.s, r.s from t full join r on t.a=r.a and t.s=r.s
select t.a from t semi join r using(a)
select t.a from t anti join r on t.a=r.a and t.b<r.b
select t.a, r.a from t right join r on t.a=r.a and r.b<3
select t.a from t cross join r where t.a=r.a or r.b is null
select (select count(*) from r)
select (select b from r where a=2) from t
select count(*) from t
select count(*) from t, r
select count(*) from t where exists (select 1 from r)
select a from t union all select a from r
select a from t union select b from r
select a from t except select a from r
select a from t except all select a from r
select a from t intersect all (select a from r union select 1)
select a from t union by name select a,b from r
select a, null from t union all select null, s from r
with x as materialized (select a from t) select * from x x1, x x2 where x1.a=x2.a+1
with x as (select a,b from t), y as (select * from x where a>2) select (select count(*) from y), x.a from x join y using(a)
with x as materialized (select a, count(*) over() c from t) select a from x where c>(select avg(a) from x) order by a limit 2
select a as k, sum(b) s from t group by 1 having sum(b)>3 order by 2,1
select st.x, st['y'] from t
select a, row_number() over (partition by e order by b desc nulls first, a), sum(b) filter (where a>1) over (order by a rows between 2 preceding and a following exclude ties), lag(a,2,0 ignore nulls) over (order by a), first_value(a order by b desc, a) over (partition by e), count(distinct a) over (), count(*) over (), string_agg(s,'-') over (order by a groups between 1 preceding and current row), list(a order by a) over () from t
select a, sum(a) over (order by d range between interval 30 day preceding and current row), sum(a) over (order by d desc range between interval 30 day preceding and interval 1 month following), sum(a) over (order by a range between 2 preceding and 1 following), avg(f) over (order by dec range between 1.5 preceding and 1 following exclude current row) from t where f<50
select a, ntile(3) over (order by a), percent_rank() over (order by b), cume_dist() over (order by b), dense_rank() over (order by b), rank() over (order by b desc), nth_value(a,2) over (order by a), last_value(b ignore nulls) over (order by a), lead(s) over (order by a), lead(s,-1,'zz') over (order by a) from t
select a, min(a) over (order by a rows between current row and unbounded following exclude group), max(a) over (partition by e order by b groups between unbounded preceding and 1 following) from t
select a, quantile_cont(a, 0.5) over (order by a rows between 3 preceding and current row), median(a) over (partition by e) from t
select a from t qualify row_number() over (partition by e order by a) = 1
select sum(x) from (select a x from t order by a limit 3)
select list(x) from (select a x from t order by b, a)
select first(x), last(x) from (select a x from t order by b nulls last, a)
select max(a), min(s), count(distinct s), sum(distinct a), avg(distinct a) filter (where a>2), count(*) filter (where b is null) from t
select e, l, st, m, u, i, bl, tz::varchar, count(*) from t group by all
select d, d + interval 1 month, ts - interval '1 day', date_trunc('month', d), tm, h, ub, ti, fl from t
select a from t where f='nan' or f='inf' or f = -0.0
select a from t where d in (date '2020-01-31', date '2020-02-17') or ts < timestamp '2020-02-15' or tz>'2020-06-01 05:00:00+00' or bl='a3'::blob or u='00000000-0000-0000-0000-000000000001' or i=interval 3 day or m=map{'a':4,'b':2} or l=[5,null,10,1] or st={'x':6,'y':'v6'} or h=7000000000000000000000 or tm='10:08:00' or e='b' or ar=[9,2,3]
select a from t where e in ('a') and e<>'b' and s like 'a%' and s not like '%b' or s ilike 'AX_%'
select case e when 'a' then 1 else 2 end, e::varchar||'x', e<'b' from t
select s collate nocase from t order by s collate nocase, a
select s, count(*) from t where s collate nocase = 'ABC' group by s
pivot (select e, bo, a from t) on bo in (true,false) using sum(a), count(*) group by e order by e
unpivot (select a, ti::int ti, b::int b from t) on ti, b
from t select a order by all limit 2
select columns('^[ab]$') from t order by all
select * exclude (l) replace (a+1 as a) from r join (select a as z, l from t) on z=r.a order by all
select a, (select sum(x) from unnest(t.l) u(x)) from t
select a, (select count(*) from r where r.a < t.a and exists (select 1 from r r2 where r2.a=r.a and r2.b<>t.b)) from t
select a, (select max(r.b) from r, (select 1 k) z where r.a=t.a+z.k) from t where b > (select avg(b) from t t2 where t2.e=t.e)
select * from (select a, b, (select count(*) from r where r.b<t.b) c from t) where c>1 order by a
select t.a, z.c from t, lateral (select count(*) c from r where r.a<t.a) z order by 1
select t.a, z.b from t left join lateral (select b from r where r.a>=t.a order by r.a limit 1) z on true
select t.a, z.b from t, lateral (select b from r where r.a=t.a union all select b from r where r.b=t.b) z
select a from t where (select count(*) from r where r.s=t.s)=0
select a from t where a = (select min(a) from t) or s in (select s from r)
select * from r where (a,b) = (2,1) or (a,s)<(3,'b')
select count(*) from (select distinct s from t)
select count(*) from (select 1 from t limit 5)
select count(*) from (select a from t limit 5 offset 10)
select x.a from (select a from t union all select a from r) x join r on x.a=r.a
select sum(cnt) from (select count(*) cnt from t group by e)
select a, rank from (select a, rank() over (order by a desc) as rank from t) where rank<=3
select a as "x y", b as "x y", s as "q""z" from r
select 'it''s', chr(0)||'a', 'é', '\\x00', e'a\nb' from r
select a, sum(a) over w, avg(a) over w from t window w as (partition by e order by a)
select e, count(*) c, sum(a) from t group by e union all select 'total', count(*), sum(a) from t
select coalesce(t.a, r.a) a, count(*) from t full join r on t.a=r.a group by 1 order by 1
select t1.a from t t1, t t2, r r1, r r2 where t1.a=t2.a and t2.a=r1.a and r1.b=r2.b and t1.b>0
select * from (select a, count(*) over (partition by e) n from t where a>1) join r using (a) where n>2
select mode(s), entropy(a), kurtosis(a), skewness(a), product(a+1), bit_and(ti), bit_xor(ti), max_by(s,a), min_by(s,a), arg_max(a,b), covar_pop(a,b), regr_slope(a,b), favg(f), fsum(a), sem(a), mad(a), geomean(a+1) from t where f<50
select string_agg(s), string_agg(distinct s, '|' order by s), group_concat(s,','), listagg(s,',') from t
select array_agg(a order by a), array_agg(distinct e order by e), list(a) filter (where a>9) from t
select arg_min(a,b,2), max(s,2), min(a,2) from t
select quantile_cont(a, 0.5 order by a desc) from t
select percentile_cont(0.25) within group (order by a) , percentile_disc(0.5) within group (order by a desc), mode() within group (order by a) from t
select count(*) from t group by all having count(*)>1
select try(cast(s as int)), try_cast(s as int) from t
select a+b from t
select a/b from t
select dec+dec from t
select dec*dec from t
select dec-1 from t
select a//2 from t
select a%2 from t
select -a from t
select a<<2 from t
select s||'x' from t
select s like 'a%' from t
select s like '%a%b' from t
select s ilike 'A%' from t
select s not like 'a_b' from t
select s like 'a!%' escape '!' from t
select s ~ 'a.*' from t
select s similar to 'a' from t
select regexp_matches(s,'a','i') from t
select regexp_replace(s,'a','b','g') from t
select regexp_extract(s,'(a)(b)',1) from t
select regexp_extract(s,'(a)(b)',['x','y']) from t
select regexp_extract_all(s,'a',0) from t
select regexp_split_to_array(s,'a') from t
select string_split_regex(s,'a') from t
select string_split(s,'a') from t
select split_part(s,'a',1) from t
select substring(s,1,2) from t
select s[1] from t
select s[1:2] from t
select l[1] from t
select l[1:2] from t
select l[1:2:1] from t
select [a,1] from t
select {'x':a,'y':s} from t
select row(a,s) from t
select st.x from t
select st['x'] from t
select struct_extract(row(a,s),1) from t
select m['a'] from t
select map(['a'],[a]) from t
select map{'a':a} from t
select list_sort(l) from t
select list_sort(l,'desc') from t
select list_reverse_sort(l) from t
select list_sum(l) from t
select list_aggregate(l,'sum') from t
select list_distinct(l) from t
select list_contains(l,1) from t
select list_position(l,1) from t
select array_length(l) from t
select len(l) from t
select len(s) from t
select length(s) from t
select list_concat(l,l) from t
select l||l from t
select list_append(l,1) from t
select list_zip(l,l) from t
select flatten([l]) from t
select range(a) from t
select generate_series(1,a) from t
select unnest(l) from t
select year(d) from t
select extract(year from d) from t
select date_part('year',d) from t
select date_trunc('month',ts) from t
select date_trunc('day',d) from t
select date_diff('day',d,d) from t
select d+1 from t
select d-d from t
select d + interval 1 month from t
select ts - ts from t
select ts - interval '1 hour' from t
select age(ts,ts) from t
select strftime(ts,'%Y') from t
select try_strptime(s,'%Y') from t
select make_date(a,1,1) from t
select make_timestamp(a,1,1,1,1,1) from t
select make_timestamp(b) from t
select epoch(ts) from t
select epoch_ms(ts) from t
select time_bucket(interval '1 day', ts) from t
select ts::date from t
select tz::date from t
select tz at time zone 'UTC' from t
select ts::timestamptz from t
select try_cast(s as int) from t
select a::varchar from t
select e::varchar from t
select e='a' from t
select e from t
select s=e from t
select coalesce(a,b) from t
select nullif(a,1) from t
select ifnull(a,1) from t
select if(a>1,1,2) from t
select case when a=1 then 'x' end from t
select case a when 1 then 'x' when 2 then 'y' else s end from t
select a in (1,2,3) from t
select a not in (1,2) from t
select s in ('a','b') from t
select a in (b,1) from t
select a between 1 and 2 from t
select a is null from t
select a is distinct from b from t
select not bo from t
select bo and a>1 from t
select a=1 or a=2 from t
select greatest(a,b) from t
select least(a,b) from t
select concat(s,a) from t
select concat_ws(',',s,a) from t
select upper(s) from t
select lower(s) from t
select trim(s) from t
select ltrim(s,'a') from t
select replace(s,'a','b') from t
select lpad(s,2,'x') from t
select repeat(s,2) from t
select reverse(s) from t
select left(s,2) from t
select right(s,2) from t
select position('a' in s) from t
select instr(s,'a') from t
select contains(s,'a') from t
select starts_with(s,'a') from t
select ends_with(s,'a') from t
select prefix(s,'a') from t
select suffix(s,'a') from t
select strip_accents(s) from t
select ascii(s) from t
select chr(a) from t
select format('{} {}',s,a) from t
select printf('%d',a) from t
select md5(s) from t
select sha256(s) from t
select hash(s) from t
select base64(bl) from t
select to_hex(s) from t
select encode(s) from t
select decode(bl) from t
select octet_length(bl) from t
select bit_length(s) from t
select bit_count(a) from t
select round(f) from t
select round(dec,1) from t
select round(f,2) from t
select round(dec) from t
select floor(dec) from t
select ceil(f) from t
select trunc(f) from t
select abs(a) from t
select abs(dec) from t
select sign(a) from t
select sqrt(f) from t
select power(f,2) from t
select f^2 from t
select f**2 from t
select exp(f) from t
select pi() from t
select isnan(f) from t
select isfinite(f) from t
select gcd(a,2) from t
select factorial(a) from t
select a! from t
select typeof(a) from t
select cardinality(m) from t
select map_keys(m) from t
select map_values(m) from t
select map_entries(m) from t
select map_extract(m,'a') from t
select map_from_entries([row('a',a)]) from t
select map_concat(m,m) from t
select struct_insert(st,z:=1) from t
select struct_concat(st,{'q':1}) from t
select struct_pack(q:=a) from t
select list_value(a,b) from t
select array_value(a,b) from t
select array[1,2]::int[2] from t
select cast([1,2] as int[2]) from t
select json('{}') from t
select to_json(a) from t
select bl||bl from t
select '\x00'::blob from t
select interval 3 day from t
select u::varchar from t
select h+1 from t
select -h from t
select ~a from t
select xor(a,1) from t
select a&1 from t
select a^2 from t
select s collate nocase = 'A' from t
select s < 'a' collate nocase from t
select md5(s)||'x' from t
select constant_or_null(1,a) from t
select trim(both 'a' from s) from t
select d::timestamp from t
select dec::int from t
select dec::decimal(12,4) from t
select a::hugeint from t
select a::utinyint from t
select tm from t
select tm + interval 1 hour from t
select ts::time from t
select date_add(d, interval 1 day) from t
select last_day(d) from t
select dayname(d) from t
select monthname(d) from t
select weekofyear(d) from t
select isodow(d) from t
select quarter(d) from t
select datesub('day',ts,ts) from t
select date_sub('day',ts,ts) from t
select julian(d) from t
select century(d) from t
select epoch_us(ts) from t
select bar(a,0,10,5) from t
select levenshtein(s,'a') from t
select jaccard(s,'ab') from t
select editdist3(s,'a') from t
select translate(s,'a','b') from t
select unicode(s) from t
select nfc_normalize(s) from t
select list_slice(l,1,2) from t
select list_extract(l,1) from t
select array_extract(l,1) from t
select list_select(l,[1]) from t
select list_where(l,[true]) from t
select list_resize(l,3) from t
select list_grade_up(l) from t
select list_has_any(l,l) from t
select list_intersect(l,l) from t
select list_unique(l) from t
select list_any_value(l) from t
select list_cosine_similarity([f],[f]) from t
select union_value(k:=a).k from t
select bit_count(b) from t
select a::bit::varchar from t
select parse_path(s) from t
select url_encode(s) from t
select is_histogram_other_bin(a) from t
select setseed(0.5) from t
select map_contains(m,'a') from t
select list_contains(['a'],s) from t
select s in (select s from r) from t
select a::float from t
select fl+1 from t
select fl::double from t
select (st).y from t
select unnest(st) from t
select cast(st as struct(x bigint,y varchar)) from t
select cast(l as bigint[]) from t
select can_cast_implicitly(a,1) from t
select mod(a,2) from t
select fmod(f,2) from t
select divide(a,2) from t
select add(a,1) from t
select s=1::varchar from t
select a>1.5 from t
select dec>1 from t
select dec between 1 and 2 from t
select d>'2020-01-01' from t
select ts>='2020-01-01' from t
select tz>'2020-01-01' from t
select u='00000000-0000-0000-0000-000000000001' from t
select h=5000000000000000000000 from t
select f='nan' from t
select f=1e300 from t
select bl='a'::blob from t
select i>interval 1 day from t
select tm>'10:00' from t
select e in ('a','b') from t
select l=[1,2] from t
select st={'x':1,'y':'a'} from t
select m=map{'a':1} from t
select bo=true from t
select a::tinyint=1 from t
select interval '1 month -2 days 3.000001 seconds', '24:00:00'::time, '1992-01-01'::timestamp_s, '1992-01-01 10:00:00.123'::timestamp_ms, true, null, null::int, [1,null], [], [[1],[]], {'a':null,'b':[1]}, map{'k':[1]}, 'x'::blob, '\xAA\x27'::blob, [1,2]::int[2], row(1,'x'), {'a''b':1} from r
select 0.1::double, 1e300, 'nan'::float, -0.0::double, 1.1::float, 123456789012345678901234567890 + ub, (-170141183460469231731687303715884105728)::hugeint < ub::hugeint, 340282366920938463463374607431768211455::uhugeint > ub::uhugeint, 1.50, -1.5::decimal(38,10), '2020-01-01 00:00:00.123456789'::timestamp_ns, 'infinity'::timestamp, '-infinity'::date from t
select 5e-324::double, 16777217::float, 123456789.123456789::double, (-2.5)::float, 'inf'::double, '-inf'::double from r
select "order".a from r as "order"
select a as "a""b" from r
select a, x.u from t left join lateral (select unnest(t.l) u) x on true
select count(*) from (select a from t order by b limit 4 offset 1) where a>2
select a from t where a+0 in (select max(a) from r group by b)
select a, b in (select r.b from r where r.a<t.a and exists (select 1 from r r2 where r2.a=r.a and r2.b<>t.b)) from t
select a, exists (select 1 from r where r.a<t.a and not exists (select 1 from r r2 where r2.a=r.a and r2.b>t.b)) from t
select a, (select count(*) from r left join r r2 on r.a=r2.b where r.a < t.a and (r2.b is null or r2.b<t.b)) from t
select a, (select min(x.b) from (select b from r where r.a<t.a union all select t.b) x) from t
select a from t where b > (select avg(r.b) from r where r.a<>t.a) or exists (select 1 from r where r.b=t.b and r.s=t.s)
select a, (select count(*) from (select distinct s from r where r.a<=t.a)) from t
select a, (select string_agg(s,',' order by r.a) from r where r.a<=t.a) from t
select a, (select list(b order by b) from (select b from r where r.a>t.a order by r.b limit 2)) from t
select a, (select sum(b) over () from r where r.a=t.a) from t
select a from t where (select max(c) from (select count(*) c from r where r.a<t.a group by r.s)) > 1
select list_transform(l,x->x+1) from t
select list_filter(l,x->x>a) from t
select [x+a for x in l if x>1] from t
select list_reduce(l,(x,y)->x+y) from t
select list_aggregate(l,'string_agg',',') from t
select date_part(['year','month'],ts) from t
select array_to_string(l,',') from t
select list_transform(l,(x,i)->x+i*b+a) from t
select list_reduce([a,2,3],(x,y)->x+y+a) from t
select list_transform([a,b],x->list_sum(list_transform([1,2],y->y+x+a))) from t
select list_reduce([a,2,3],(x,y,i)->x+y+i,5) from t
select list_filter(ll, lambda x: x like 'q%' and length(x)>1) from t
select [[y*x for y in l] for x in [1,2,b]] from t
select list_transform(ll, x -> {'k': x, 'n': upper(x)}) from t
select a from t where len(list_filter(l, x -> x > b)) > 0
select list_transform(l, x -> x::double/2) from t
select list_reduce(['a','b',s],(x,y)->x||y) from t
select list_transform(l, x -> case when x>3 then 'big' else s end) from t
select list_aggregate(ll,'string_agg'), array_to_string(ll, '-'), list_sum(l), list_avg(l), list_histogram(l) from t
select date_part(['day','hour'],ts).hour from t
select list_aggregate(ll,'string_agg','sum'), list_aggregate(ll, 'max') from t
