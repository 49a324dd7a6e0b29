CREATE TABLE `delay_queue_outbox` (
  `seq` bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
  `operation` varchar(16) NOT NULL,
  `queue` varchar(128) NOT NULL,
  `message_id` varchar(256) NOT NULL,
  `body` longtext NOT NULL,
  `delay_ms` bigint,
  `due_at_ms` bigint,
  `written_at_ms` bigint NOT NULL,
  `not_before_ms` bigint DEFAULT 0,
  `attempts` int NOT NULL DEFAULT 0,
  `error` text,
  CONSTRAINT `delay_queue_outbox_messages` UNIQUE (`message_id`, `queue`, `seq`)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
