import StrataCore

/// A manifest that has every key of every mapping.
enum WholeManifest {
    static let text = """
        app: whole
        env: debug
        schemes: [whole, w+h]
        levels: [basic, middle, topout]
        settings: {feed.page: 20}
        launchOptions: [1]
        calls: any
        authorizer: Login
        guests: {level: topout, most: 8, users: {root: middle}, names: {Probe: topout}}
        operators: [root]
        openableBy: {users: [root], level: topout}
        group: root
        limits:
          frame: 1GiB
          header: 16KiB
          calls: 10
          queue: 8MiB
          waiting: 10
          observations: 10
          interfaces: 10
          urls: 10
          instances: 10
          connections: 100
          unregistered: 10
          held: 8MiB
          adapted: 256KiB
          total: 1024GiB
          depth: 32
          retained: 10
          body: 1GiB
        startup: 30s
        hello: 10s
        assembly: 60s
        include: [/etc/strata-none-such-*.yaml]
        contracts: enforced
        nodes:
          berlin: {operates: true, key: berlin.nk, ca: berlin.pem}
          tokyo:
        federation:
          servers: ["tls://n1.example:4222", "nats://localhost"]
          key: a.nk
          ca: a.pem
          window: 4MiB
          lost: 5s
          join: 10s
          unguarded: false
          user: root
        modules:
          Storage:
            level: basic
            node: berlin
            priority: 10
            run: [bin/storage, 5]
            folder: data
            env: {TZ: UTC, N: 5}
            keepEnv: [PATH]
            replace: wait
            user: root
            start: eager
            restart: on-failure
            backoff: {first: 0s, most: 30s, reset: 60s}
            stop: 5s
            ping: {every: 10s, restart: false}
            limits: {memory: 256MiB, files: 256, processes: 64}
            replicas: {least: 1, most: 4}
            provides: [Storage]
            requires: [Index@2.1, Login]
            urls: {"item/:name": Storage/item, list/: {to: Storage/list, public: true}}
            observes: [storage.full, {name: session.ended, object: 5, keep: latest, share: true}]
            broadcasts: [storage.changed]
            retained: app
            reports: {Index: [index.wanted]}
            emits: [app.ready]
            manages: [Index]
            trusted: false
            required: true
            opens: {catalog: {app: catalog@tokyo, user: root}, notes: {socket: /run/notes.sock}}
            contracts: off
            settings: {storage.file: a.db}
            secrets: {storage.key: {file: a.key}, storage.word: {env: WORD}}
          Index:
            level: middle
            node: [berlin, tokyo]
            run: [bin/index]
            start: on-demand
            idle: 60s
            ping: 10s
            provides: [Index, Login]
            wakes: [storage.changed]
        adapters:
          NoteLogin:
            to: Login
            actions: {ask: {to: begin, params: {message: reason}, result: {ticket: token}}}
            notices: {session.ended: note.left}
        """
}
