import StrataCore

extension KitCheck {
    /// Section 6, streams.
    static var streams: [KitCheck] {
        [
            .ready(.calls, "a stream sends no more parts than its credit", needs: ["Probe/count"]) {
                session throws(Finding) in
                let id = session.call("Probe/count", ["to": 5], credit: 2)
                try session.expectParts(id, 1...2)
                try session.expectItServes()
                session.send(["kind": "credit", "id": .integer(id), "credit": 1])
                try session.expectParts(id, 3...3)
                try session.expectItServes()
                session.send(["kind": "credit", "id": .integer(id), "credit": 10])
                try session.expectParts(id, 4...5)
                _ = try session.value(of: id)
            },
            .ready(.calls, "its final reply needs no credit", needs: ["Probe/count"]) { session throws(Finding) in
                let id = session.call("Probe/count", ["to": 3], credit: 3)
                try session.expectParts(id, 1...3)
                _ = try session.value(of: id)
            },
            .ready(.calls, "with the credit 0 it waits", needs: ["Probe/count"]) { session throws(Finding) in
                let id = session.call("Probe/count", ["to": 1], credit: 0)
                try session.expectItServes()
                session.send(["kind": "credit", "id": .integer(id), "credit": 1])
                try session.expectParts(id, 1...1)
                _ = try session.value(of: id)
            },
            .own(.calls, "a cancel ends a stream", needs: ["Probe/count", "Probe/cancels"]) { trial throws(Finding) in
                let session = try trial.ready()
                let id = session.call("Probe/count", ["to": 1_000_000], credit: 2)
                try session.expectParts(id, 1...2)
                session.send(["kind": "cancel", "id": .integer(id)])
                try session.expectCancels(1)
            },
            .ready(.calls, "a reader gives credit as it reads", needs: ["Probe/collect"]) { session throws(Finding) in
                let id = session.call("Probe/collect", ["to": "Other/parts", "params": ["x": 1], "credit": 2])
                let request = try session.request("call", to: "Other/parts")
                try session.expect(request.header["credit"], 2, "the credit of the call")
                try session.expect(request.header["parent"], .integer(id), "parent")
                var credit: Int64 = 2
                for part in 1...20 as ClosedRange<Int64> {
                    if credit == 0 {
                        let given = try session.next("more credit after \(part - 1) parts") {
                            $0.kind == "credit" && $0.id == request.id
                        }
                        credit += given.header["credit"]?.integer ?? 0
                    }
                    credit -= 1
                    session.reply(to: request, .integer(part), more: true)
                }
                session.reply(to: request, "done")
                let found = try session.value(of: id)
                try session.expect(found["parts"], .array((1...20).map { .integer($0) }), "the parts")
                if found["reply"] != .null { try session.expect(found["reply"], "done", "the stream's final reply") }
            },
            .ready(.calls, "a stream may end with an error", needs: ["Probe/collect"]) { session throws(Finding) in
                let id = session.call("Probe/collect", ["to": "Other/parts", "credit": 4])
                let request = try session.request("call", to: "Other/parts")
                session.reply(to: request, "one", more: true)
                session.refuse(request, "overloaded", ran: "maybe")
                let found = try session.value(of: id)
                try session.expect(found["parts"], .array(["one"]), "the parts")
                try session.expect(found["error"]?["code"], "overloaded", "the code")
            },
            .ready(.calls, "a reader that stops cancels the stream", needs: ["Probe/collect"]) {
                session throws(Finding) in
                let id = session.call("Probe/collect", ["to": "Other/parts", "credit": 4, "take": 2])
                let request = try session.request("call", to: "Other/parts")
                for part in 1...3 as ClosedRange<Int64> { session.reply(to: request, .integer(part), more: true) }
                _ = try session.next("a cancel of the stream") { $0.kind == "cancel" && $0.id == request.id }
                session.refuse(request, "cancelled", ran: "maybe")
                try session.expect(try session.value(of: id)["parts"], .array([1, 2]), "the parts")
            },
        ]
    }
}

extension KitSession {
    fileprivate func expectParts(_ id: Int64, _ numbers: ClosedRange<Int64>) throws(Finding) {
        for number in numbers {
            let part = try answer(to: id)
            guard part.kind == "reply", part.isPartial else {
                throw Finding(
                    "expected the part \(number) of \(id); found \(part.kind == "reply" ? "the final reply" : part.code)"
                )
            }
            try expect(part.json, .integer(number), "the part")
        }
    }
}
