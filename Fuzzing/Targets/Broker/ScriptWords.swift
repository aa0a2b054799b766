/// The words of which scripts make frames.
enum ScriptWords {
    static let modules = ["Ant", "Bee", "Cat", "Guest", "Guest2"]

    static let kinds = [
        "call", "call", "call", "open", "report", "broadcast", "cancel", "credit", "reply", "error", "notice", "odd",
    ]

    static let destinations = [
        "Ant/go", "Ant/safe", "Cat/go", "Guest/go", "Cart/add", "Cart#1/add", "Cart#2/add", "Cart#3/add", "Old/walk",
        "Bee/go", "antrouter/go", "AntRouter/go", "Ant/none", "Auth/authorize", "Nobody/go", "module/setUp", "bus/ping",
        "bus/hello", "launcher/start", "Ant", "Bee", "Cat", "Guest", "Cart#99999999999999999999/add", "/", "Ant/",
    ]

    static let names = ["n", "m", "e", "app.reload", "app.moduleLost", "x"]

    static let urls = [
        "test://h/a", "test://h/b?x=1&x=2", "TEST://H/q", "test://i/a", "other://h/a", "test://h/nowhere", "bad",
    ]

    /// Members that no kind requires, as they are written.
    static let members = [
        #""deadline":1"#, #""deadline":3"#, #""deadline":0,"credit":1"#, #""credit":0"#, #""credit":1"#,
        #""credit":9007199254740991"#, #""object":"o""#, #""object":"p""#, #""auth":"skip""#, #""trace":"00-1-2-00""#,
        #""meta":{"policy":"all"}"#, #""meta":{"policy":"any"}"#, #""meta":{"a":[1]}"#, #""more":true"#,
        #""code":"failed""#, #""code":"Ant.own""#, #""code":"unknown-action""#, #""code":"overloaded""#,
        #""message":"m\n\u00e9\"""#, #""ran":"no""#, #""level":"basic""#, #""level":"topout""#, #""from":"bus""#,
        #""unknown":{"a":[1,2,{}]}"#, #""deadline":86400001"#, #""more":false"#, #""subscription":1"#,
    ]

    static let bodies = [
        "", "{}", "true", "false", #"{"allow":true}"#, #"{"allow":false,"reason":"r"}"#, #"{"a":1,"b":2,"c":3}"#,
        #"{"c":{"d":1}}"#, "{", "[1,2]",
    ]

    /// The broker's own actions, with bodies for them.
    static let actions: [(action: String, body: String)] = [
        ("ping", ""), ("observe", #"{"name":"n"}"#), ("observe", #"{"name":"n","object":"o","keep":"latest"}"#),
        ("observe", #"{"name":"m","keep":"latest"}"#), ("unobserve", #"{"subscription":1}"#),
        ("unobserve", #"{"subscription":2}"#), ("unobserve", #"{"subscription":3}"#),
        ("register", #"{"interfaces":{"More":{}}}"#),
        ("register", #"{"interfaces":{"Guest":{"actions":{"go":{"auth":true}}},"More":{"instances":"multiple"}}}"#),
        ("register", #"{"urls":[{"host":"i","path":"/a","to":"Ant/go"}]}"#),
        ("unregister", #"{"interfaces":{"More":{}}}"#), ("unregister", #"{"interfaces":{"Cart":{}}}"#),
        ("unregister", #"{"urls":[{"host":"i","path":"/a","to":"Ant/go"}]}"#),
        ("create", #"{"interface":"Cart"}"#), ("create", #"{"interface":"Ant"}"#),
        ("release", #"{"instance":"Cart#1"}"#), ("release", #"{"instance":"Cart#2"}"#),
        ("canOpen", #"{"url":"test://h/a"}"#), ("canOpen", #"{"url":"test://h/x"}"#),
        ("emit", "{}"), ("levels", ""), ("modules", ""), ("interfaces", ""), ("stats", ""), ("watch", ""),
        ("monitor", "{}"), ("monitor", #"{"module":"Ant","bodies":true}"#), ("monitor", #"{"name":"n"}"#),
        ("retire", #"{"module":"Ant"}"#), ("retire", #"{"module":"Cat"}"#), ("reload", ""),
        ("moduleState", #"{"module":"Ant","state":"starting"}"#),
        ("moduleState", #"{"module":"Ant","state":"failed","reason":"r"}"#),
        ("moduleState", #"{"module":"Cat","state":"starting"}"#),
        ("moduleState", #"{"module":"Cat","state":"restarting","reason":"r"}"#),
        ("moduleState", #"{"module":"Cat","state":"absent"}"#),
        ("hello", #"{"protocol":1,"module":"Bee"}"#), ("nothing", ""),
    ]
}
