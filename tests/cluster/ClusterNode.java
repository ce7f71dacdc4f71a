import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.codelibs.opensearch.runner.node.OpenSearchRunnerNode;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.plugins.Plugin;

/** One node of the test cluster in a process of its own, so that it can be killed. */
public class ClusterNode {
  private static final String[] PLUGINS = {
    "org.opensearch.transport.Netty4Plugin",
    "org.opensearch.index.mapper.MapperExtrasPlugin",
    "org.opensearch.analysis.common.CommonAnalysisPlugin",
    "org.opensearch.painless.PainlessPlugin",
    "org.opensearch.knn.plugin.KNNPlugin",
  };

  /** Arguments: name, folder, HTTP port, transport port, all transport addresses, all names. */
  public static void main(String[] arguments) throws Exception {
    Path home = Path.of(arguments[1]);
    Files.createDirectories(home.resolve("config"));
    Settings settings =
        Settings.builder()
            .put("cluster.name", "assay-test")
            .put("node.name", arguments[0])
            .put("path.home", home.toString())
            .put("path.data", home.resolve("data").toString())
            .put("path.logs", home.resolve("logs").toString())
            .put("network.host", "127.0.0.1")
            .put("http.port", arguments[2])
            .put("transport.port", arguments[3])
            .put("http.type", "netty4")
            .put("transport.type", "netty4")
            .putList("discovery.seed_hosts", arguments[4].split(","))
            .putList("cluster.initial_cluster_manager_nodes", arguments[5].split(","))
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .put("cluster.fault_detection.leader_check.interval", "200ms")
            .put("cluster.fault_detection.follower_check.interval", "200ms")
            .build();
    List<Class<? extends Plugin>> plugins = new ArrayList<>();
    for (String name : PLUGINS) {
      plugins.add(Class.forName(name).asSubclass(Plugin.class));
    }
    OpenSearchRunnerNode node =
        new OpenSearchRunnerNode(new Environment(settings, home.resolve("config")), plugins);
    node.start();
    Thread.currentThread().join();
  }
}
