interface HeadersProps {
  readonly headers: Readonly<Record<string, string>>;
}

export function Headers({ headers }: HeadersProps) {
  const entries = Object.entries(headers);
  return (
    <section class="card" aria-labelledby="headers-title">
      <h2 id="headers-title">Headers</h2>
      {entries.length === 0 ? (
        <p class="hint">None</p>
      ) : (
        <dl class="headers">
          {entries.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
