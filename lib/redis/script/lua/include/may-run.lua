-- How many words must follow the key in each command, for the command to be complete.
local WORDS_AFTER_KEY = {
  BLPOP = 1, DEL = 0, EXISTS = 0, GET = 0, HDEL = 1, HEXISTS = 1, HGET = 1, HGETALL = 0, HKEYS = 0, HLEN = 0, HMGET = 1, HRANDFIELD = 0,
  HSCAN = 1, HSET = 2, HSETNX = 2, LINDEX = 1, LINSERT = 3, LLEN = 0, LPOP = 0, LPOS = 1, LPUSH = 1, LRANGE = 2, LREM = 2, LSET = 2, PSUBSCRIBE = 0, PUBLISH = 1,
  RPOP = 0, RPUSH = 1, SET = 1, SPUBLISH = 1, SSUBSCRIBE = 0, SUBSCRIBE = 0, UNLINK = 0, ZADD = 2, ZCARD = 0, ZCOUNT = 2,
  ZMSCORE = 1, ZRANGE = 2, ZREM = 1, ZREMRANGEBYRANK = 2, ZREVRANGEBYSCORE = 2, ZSCAN = 1, ZSCORE = 1,
}

-- Whether the user may run a command on a key or a channel. Redis 8.6 raises an error for a command with too few words or too many,
-- and Redis 7.0 reads past the last word and crashes.
local function may_run(command, key)
  local words = WORDS_AFTER_KEY[command]
  if words == 0 then
    return redis.acl_check_cmd(command, key)
  elseif words == 1 then
    return redis.acl_check_cmd(command, key, '0')
  elseif words == 2 then
    return redis.acl_check_cmd(command, key, '0', '0')
  elseif words == 3 then
    return redis.acl_check_cmd(command, key, '0', '0', '0')
  end
  error('may_run does not know the words of ' .. command)
end
