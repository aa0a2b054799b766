import StrataCore

/// What modules bring, as values of the state and back.
extension OfferState {
    init(_ offer: Hello.Offer) {
        interfaces = offer.interfaces.map { interface in
            var state = Interface()
            state.name = interface.name
            state.isMultiple = interface.instances == .multiple
            state.actions = interface.actions.map { actions in
                var state = Actions()
                state.names = actions.map(\.name)
                state.auth = actions.map { $0.needsAuthorization ? 1 : 0 }
                return state
            }
            return state
        }
        urls = offer.urls.map { url in
            var state = URL()
            state.host = url.host
            state.path = url.path
            state.interface = url.interface
            state.action = url.action
            return state
        }
    }

    func offer() throws(StateError) -> Hello.Offer {
        var offer = Hello.Offer()
        offer.interfaces = interfaces.map { interface in
            Hello.Interface(
                name: interface.name, instances: interface.isMultiple ? .multiple : .single,
                actions: interface.actions.map { actions in
                    zip(actions.names, actions.auth).map { name, auth in
                        InterfaceRecord.Action(
                            name: name, nameBytes: Array(name.utf8), needsAuthorization: auth != 0)
                    }
                })
        }
        for url in urls {
            do throws(BusURLError) {
                offer.urls.append(
                    Hello.URL(
                        host: url.host, path: url.path, pattern: try URLPattern(url.path), interface: url.interface,
                        action: url.action))
            } catch {
                throw StateError("a module's URL can't be understood: \(error.message)")
            }
        }
        return offer
    }
}
