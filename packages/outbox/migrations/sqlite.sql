CREATE TABLE "delay_queue_outbox" (
  "seq" integer PRIMARY KEY AUTOINCREMENT,
  "operation" text NOT NULL,
  "queue" text NOT NULL,
  "message_id" text NOT NULL,
  "body" text NOT NULL,
  "delay_ms" integer,
  "due_at_ms" integer,
  "written_at_ms" integer NOT NULL,
  "not_before_ms" integer DEFAULT 0,
  "attempts" integer NOT NULL DEFAULT 0,
  "error" text,
  CONSTRAINT "delay_queue_outbox_messages" UNIQUE ("message_id", "queue", "seq")
);
