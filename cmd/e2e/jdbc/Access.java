import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.DoublePredicate;

/**
 * How to reach the server. FLIGHT_URI, FLIGHT_USER, FLIGHT_PASSWORD, FLIGHT_TOKEN and FLIGHT_TLS_ROOTS say where it is and
 * what it asks for; SCANNER_METRICS has the /metrics addresses of the scanners.
 */
final class Access {
    static final String USER = System.getenv("FLIGHT_USER");
    static final String TOKEN = System.getenv("FLIGHT_TOKEN");
    static final boolean SECURED = USER != null || TOKEN != null;

    private Access() {}

    static String url() {
        String uri = System.getenv("FLIGHT_URI");
        String address = uri.substring(uri.indexOf("://") + 3);
        return "jdbc:arrow-flight-sql://" + address + "/?useEncryption=" + uri.startsWith("grpc+tls://");
    }

    /** The properties of a connection, without credentials. */
    static Properties anonymous() {
        Properties p = new Properties();
        if (System.getenv("FLIGHT_TLS_ROOTS") != null) {
            p.put("tlsRootCerts", System.getenv("FLIGHT_TLS_ROOTS"));
            p.put("useSystemTrustStore", "false");
        }
        return p;
    }

    /** The properties of a connection, with credentials and more. */
    static Properties properties(String... more) {
        Properties p = anonymous();
        if (USER != null) {
            p.put("user", USER);
            p.put("password", System.getenv("FLIGHT_PASSWORD"));
        } else if (TOKEN != null) {
            p.put("token", TOKEN);
        }
        for (int i = 0; i < more.length; i += 2) {
            p.put(more[i], more[i + 1]);
        }
        return p;
    }

    static Connection open(String... more) throws SQLException {
        return DriverManager.getConnection(url(), properties(more));
    }

    /** Reads the first value of a result. */
    static Object one(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) {
            Checks.isTrue(r.next(), "no row");
            return r.getObject(1);
        }
    }

    /** Reads and closes a result. */
    static List<Map<String, Object>> rows(ResultSet r) throws SQLException {
        List<Map<String, Object>> all = new ArrayList<>();
        ResultSetMetaData m = r.getMetaData();
        while (r.next()) {
            Map<String, Object> row = new LinkedHashMap<>();
            for (int i = 1; i <= m.getColumnCount(); i++) {
                row.put(m.getColumnLabel(i), r.getObject(i));
            }
            all.add(row);
        }
        r.close();
        return all;
    }

    /** Waits until every scanner works for a query. */
    static void scanning() throws Exception {
        await("the scanners do not work", 10_000, n -> n > 0);
    }

    /** Waits until no scanner works any more: two seconds, no longer. */
    static void freed() throws Exception {
        await("scans are still open", 2_000, n -> n == 0);
    }

    private static void await(String message, long millis, DoublePredicate condition) throws Exception {
        long end = System.currentTimeMillis() + millis;
        for (String url : System.getenv("SCANNER_METRICS").split(" ")) {
            while (!condition.test(openScans(url))) {
                Checks.isTrue(System.currentTimeMillis() < end, message + " at " + url);
                Thread.sleep(10);
            }
        }
    }

    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private static double openScans(String url) throws Exception {
        String body = HTTP.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString()).body();
        return body.lines().filter(l -> l.startsWith("tributary_scanner_open_scans"))
            .mapToDouble(l -> Double.parseDouble(l.substring(l.lastIndexOf(' ') + 1))).sum();
    }
}
