-- Rows like those of a web analytics service: skewed counters and users, mostly empty phrases, a few hot addresses.
-- Of $rows in all these are [$from, $to): the more rows, the more users, phrases and addresses there are.
-- r(n) is the row's nth random number, from 0 to 2^63 - 1.
SELECT
    (hash(i) >> 1)::BIGINT AS WatchID,
    CASE WHEN r(1) % 3 = 0 THEN 'Google ' || r(2) % 50 WHEN r(1) % 7 = 0 THEN '' ELSE 'Страница ' || r(2) % ($rows // 50) END AS Title,
    TIMESTAMP '2013-07-01' + to_seconds((r(3) % 2678400)::BIGINT) AS EventTime,
    EventTime::DATE AS EventDate,
    CASE WHEN r(4) % 3 = 0 THEN 62 ELSE (r(4) % 40)::INTEGER END AS CounterID,
    (r(5) % 4294967295 - 2147483647)::INTEGER AS ClientIP,
    (r(6) % 60)::INTEGER AS RegionID,
    CASE WHEN r(7) % 500 = 0 THEN 435090932899640449 ELSE (hash(r(7) % ($rows // 10)) >> 1)::BIGINT END AS UserID,
    'http://' || CASE r(8) % 4 WHEN 0 THEN 'www.google.com/' WHEN 1 THEN 'news.example/google' ELSE 'example.com/' END || r(9) % ($rows * 3 // 200) AS URL,
    CASE WHEN r(10) % 2 = 0 THEN '' ELSE 'https://www.site' || r(10) % 30 || '.org/page' || r(11) % 100 END AS Referer,
    (r(12) % 10 = 0)::SMALLINT AS IsRefresh,
    CASE WHEN r(13) % 2 = 0 THEN 1368 ELSE (r(13) % 1920)::SMALLINT END::SMALLINT AS ResolutionWidth,
    (r(14) % 1200)::SMALLINT AS WindowClientWidth, (r(15) % 3 * 100)::SMALLINT AS WindowClientHeight,
    CASE WHEN r(16) % 4 = 0 THEN (r(16) % 20)::SMALLINT ELSE 0 END::SMALLINT AS AdvEngineID,
    CASE WHEN r(17) % 3 = 0 THEN (r(17) % 5)::SMALLINT ELSE 0 END::SMALLINT AS SearchEngineID,
    CASE WHEN r(18) % 4 = 0 THEN 'поиск ' || r(18) % ($rows // 100) ELSE '' END AS SearchPhrase,
    (r(19) % 9)::SMALLINT AS MobilePhone,
    CASE WHEN r(19) % 9 = 0 THEN 'iPad' WHEN r(19) % 9 < 4 THEN 'A' || r(20) % 12 ELSE '' END AS MobilePhoneModel,
    (r(21) % 9 - 1)::SMALLINT AS TraficSourceID,
    (r(22) % 5 = 0)::SMALLINT AS IsLink, (r(23) % 50 = 0)::SMALLINT AS IsDownload, (r(24) % 20 = 0)::SMALLINT AS DontCountHits,
    CASE WHEN r(25) % 2 = 0 THEN 3594120000172545465 ELSE (hash(r(25)) >> 1)::BIGINT END AS RefererHash,
    CASE WHEN r(26) % 2 = 0 THEN 2868770270353813622 ELSE (hash(r(26) % 100) >> 1)::BIGINT END AS URLHash
    FROM range($from, $to) AS hits(i)
