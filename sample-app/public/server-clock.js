let offset = 0;

/** The server's clock decides when time is up, so the page's countdowns follow it too. */
export function setServerTime(now) {
  offset = Date.parse(now) - performance.now();
}

/** The snapshot may have been long on its way. Later news shows how much: the server's clock is past every instant in it. */
export function hasPassed(instant) {
  offset = Math.max(offset, Date.parse(instant) - performance.now());
}

export function serverTime() {
  return offset + performance.now();
}

/** How long until an instant, for people: 4.2 s, 1:05, 2:00:00. */
export function remaining(milliseconds) {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 60) return `${(Math.floor(seconds * 10) / 10).toFixed(1)} s`;
  const whole = Math.floor(seconds);
  const days = Math.floor(whole / 86_400);
  if (days > 0) return `${days} d ${Math.floor((whole % 86_400) / 3600)} h`;
  const pad = (number) => String(number).padStart(2, '0');
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`;
}

/** When something happened: 14:03:09. */
export function timeOfDay(instant) {
  return new Date(instant).toLocaleTimeString([], { hour12: false });
}
