// A session of the Node client @gizmodata/gizmosql-client, which speaks plain Flight SQL. In 1.4.3 its prepare()
// fails before it sends anything; it has no cancel.
const assert = require("node:assert");
const { FlightSQLClient } = require("@gizmodata/gizmosql-client");

const { FLIGHT_URI, FLIGHT_USER, FLIGHT_PASSWORD, FLIGHT_TOKEN } = process.env;
const uri = new URL(FLIGHT_URI.replace("grpc+tls://", "https://").replace("grpc://", "http://"));

function connect(credentials) {
  const secure = uri.protocol === "https:";
  return new FlightSQLClient({ host: uri.hostname, port: Number(uri.port), plaintext: !secure, tlsSkipVerify: secure, ...credentials });
}

const own = FLIGHT_USER ? { username: FLIGHT_USER, password: FLIGHT_PASSWORD } : FLIGHT_TOKEN ? { token: FLIGHT_TOKEN } : {};

async function main() {
  const client = connect(own);
  const rows = async (sql) => (await client.execute(sql)).toArray().map((r) => r.toJSON());

  assert.deepEqual(await rows("SELECT k, count(*) AS n FROM events WHERE id < 14 GROUP BY k ORDER BY k LIMIT 2"), [{ k: 0, n: 2n }, { k: 1, n: 2n }]);
  assert.deepEqual(await rows("SELECT 'żółć 😀' AS text, NULL AS nothing"), [{ text: "żółć 😀", nothing: null }]);
  assert.equal((await client.execute("SELECT * FROM events")).numRows, 1_000_000); // far more than 4 MiB
  assert.equal((await client.execute("SELECT * FROM events WHERE id < 0")).schema.fields.length, 7);

  assert.deepEqual(await client.getCatalogs(), ["tributary"]);
  assert.equal(JSON.stringify(await client.getTableTypes()).includes("TABLE"), true);

  await assert.rejects(client.execute("SELECT * FROM no_such_table"), /no_such_table/);
  await assert.rejects(client.execute("DROP TABLE events"), /read-only/);
  assert.deepEqual(await rows("SELECT 1 AS a"), [{ a: 1 }]);
  await client.close();

  if (Object.keys(own).length === 0) {
    const welcome = connect({ username: "u", password: "p" }); // credentials that nobody asks for
    assert.deepEqual((await welcome.execute("SELECT 1 AS a")).toArray()[0].toJSON(), { a: 1 });
    await welcome.close();
  }
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
