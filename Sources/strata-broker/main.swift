import StrataBus

BrokerDaemon.main()
