import Testing

@testable import StrataWeb

@Suite struct ListenAddressTests {
    @Test(arguments: [
        ("9464", "http://127.0.0.1:9464", true), ("127.0.0.1:80", "http://127.0.0.1:80", true),
        ("localhost:0", "http://127.0.0.1:0", true), ("[::1]:9464", "http://[::1]:9464", true),
        ("0.0.0.0:9464", "http://0.0.0.0:9464", false), ("[::]:1", "http://[::]:1", false),
        ("10.1.2.3:1", "http://10.1.2.3:1", false), ("/run/web.sock", "/run/web.sock", true), ("./web", "./web", true),
    ]) func placesAreRead(argument: String, text: String, isOfThisMachine: Bool) {
        let address = ListenAddress(argument: argument)
        #expect(address?.text(port: nil) == text && address?.isOfThisMachine == isOfThisMachine)
    }

    @Test(arguments: ["", ":", "host:1", "127.0.0.1:", "127.0.0.1:65536", "-1", "::1:80", "[127.0.0.1]:80", "1.2.3:4"])
    func othersAreRefused(argument: String) { #expect(ListenAddress(argument: argument) == nil) }
}
