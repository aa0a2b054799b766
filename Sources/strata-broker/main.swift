print("strata-broker")
