-- The version of each payment that the receiver has handled.
CREATE TABLE IF NOT EXISTS "payment_versions" (
  integration_address text COLLATE "C" NOT NULL,
  chain_id text COLLATE "C" NOT NULL,
  tx_hash text COLLATE "C" NOT NULL,
  version bigint NOT NULL CHECK (version > 0),
  PRIMARY KEY (integration_address, chain_id, tx_hash)
) WITH (fillfactor = 90);

-- The newest snapshot of each payment, written by storePayment. Yours: change it as you need.
CREATE TABLE IF NOT EXISTS received_payments (
  integration_address text NOT NULL,
  chain_id text NOT NULL,
  tx_hash text NOT NULL,
  version bigint NOT NULL,
  state text,
  amount text,
  currency text,
  PRIMARY KEY (integration_address, chain_id, tx_hash)
);
