-- The version of each payment that the receiver has handled.
CREATE TABLE IF NOT EXISTS payment_versions (
    integration_address TEXT NOT NULL,
    chain_id TEXT NOT NULL,
    tx_hash TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    PRIMARY KEY (integration_address, chain_id, tx_hash)
  ) WITHOUT ROWID;

-- The newest snapshot of each payment, written by storePayment. Yours: change it as you need.
CREATE TABLE IF NOT EXISTS received_payments (
  integration_address TEXT NOT NULL,
  chain_id TEXT NOT NULL,
  tx_hash TEXT NOT NULL,
  version INTEGER NOT NULL,
  state TEXT,
  amount TEXT,
  currency TEXT,
  PRIMARY KEY (integration_address, chain_id, tx_hash)
);
