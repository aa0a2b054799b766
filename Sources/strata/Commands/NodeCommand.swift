import ArgumentParser
import StrataCore
import StrataLauncher
import StrataManifest

/// `strata node`: what a node needs before it is first started.
struct NodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "node",
        abstract: "Makes a node's key, and the NATS server's configuration.",
        discussion: """
            EXAMPLE
              strata node key /etc/strata/moments.nk     on each machine; prints the public key
              strata node config app.yaml berlin=UAL4... tokyo=UBPT... >accounts.conf
            """,
        subcommands: [NodeKey.self, NodeConfig.self])
}

/// `strata node key`: makes a node's key.
struct NodeKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Makes a file with a node's key, and prints its public key.",
        discussion: """
            EXAMPLE
              strata node key /etc/strata/moments.nk

            The file must not exist. No other user may read it. It never leaves its machine: \
            the server needs the public key alone.
            """)

    @Argument(help: "The file to make.", completion: .file())
    var path: String

    func run() throws {
        try RunningApp.reporting { () throws(LaunchError) in
            StandardOutput.write(line: try NodeKeys.make(path))
        }
    }
}

/// `strata node config`: prints what the NATS server must know of an app's nodes.
struct NodeConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Prints an app's account for nats-server, with a user for each node.",
        discussion: """
            EXAMPLE
              strata node config app.yaml berlin=UAL4... tokyo=UBPT... >accounts.conf

            With these permissions no node can speak or listen as another one. Include the \
            output in nats-server's configuration: include accounts.conf
            """)

    @Argument(help: "The app's manifest.", completion: .file(extensions: ["yaml", "yml"]))
    var manifest: String

    @Argument(help: ArgumentHelp("The public key of each node.", valueName: "node=key"))
    var keys: [String] = []

    func run() throws {
        try RunningApp.reporting { () throws(LaunchError) in
            StandardOutput.write(line: try ServerAccounts.text(of: manifest, keys, environment: RunningApp.environment))
        }
    }
}

/// What `strata up --all-nodes` starts: it becomes the program, and ends with its parent.
struct LocalProcessCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: LocalProcess.word, abstract: "Becomes a program that ends with the process that started it.",
        discussion: """
            `strata up --all-nodes` uses it.

            EXAMPLE
              strata local-process $$ /usr/sbin/nats-server
            """, shouldDisplay: false)

    @Argument(help: "The process that starts it.")
    var parent: Int32

    @Argument(parsing: .captureForPassthrough, help: "The program's path, and its arguments.")
    var words: [String]

    func run() throws {
        try RunningApp.reporting { () throws(LaunchError) in
            try LocalProcess.become(words, parent: parent)
        }
    }
}
