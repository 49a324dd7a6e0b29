CREATE UNIQUE INDEX `delay_queue_outbox_messages` ON `delay_queue_outbox` (`message_id`, `queue`, `seq`);
UPDATE `delay_queue_outbox` SET seq = -1000 - seq WHERE seq > 0 AND not_before_ms IS NULL;
