import { Ajv2020 } from 'ajv/dist/2020.js';
import { type ApiAnswer, type ApiRequest, PageClient } from './page-client.js';

interface Responses {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: object }>> }>
  >;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Responses>>>>;
}

/** A client that compares each answer of the API with the OpenAPI document. */
export class DescribedClient extends PageClient {
  /** The operations that have been compared, such as `GET /config`. */
  readonly compared = new Set<string>();
  #description: Description | undefined;
  readonly #ajv = new Ajv2020({
    strict: false,
    formats: { 'date-time': (text: string) => new Date(text).toISOString() === text },
  });

  /** All operations that the document describes, but for streams of events. */
  async described(): Promise<string[]> {
    const { paths } = await this.#read();
    return Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { responses }]) => !responses[200]?.content?.['text/event-stream'])
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    );
  }

  override async send<Body = unknown>(path: string, request: ApiRequest = {}): Promise<ApiAnswer<Body>> {
    const answer = await super.send<Body>(path, request);
    if (!path.startsWith('/api/') || path === '/api/openapi.json') return answer;
    const { paths } = await this.#read();
    const method = request.method ?? 'GET';
    const asked = path.slice('/api'.length).replace(/\?.*/, '');
    const found = Object.keys(paths).find(
      (template) => asRegExp(template).test(asked) && paths[template]![method.toLowerCase()],
    );
    if (found === undefined) throw new Error(`The document does not describe ${method} ${asked}.`);
    const { responses } = paths[found]![method.toLowerCase()]!;
    const described = responses[answer.status] ?? responses[`${String(answer.status)[0]}XX`];
    const schema = described?.content?.['application/json']?.schema;
    if (!schema) throw new Error(`The document does not describe status ${answer.status} of ${method} ${found}.`);
    if (
      !this.#ajv.validate(
        { ...schema, components: ((await this.#read()) as { components?: object }).components },
        answer.body,
      )
    ) {
      throw new Error(`${method} ${found}: ${this.#ajv.errorsText()}: ${answer.text.slice(0, 500)}`);
    }
    if (answer.status < 400) this.compared.add(`${method} ${found}`);
    return answer;
  }

  async #read(): Promise<Description> {
    this.#description ??= (await super.send<Description>('/api/openapi.json')).body;
    return this.#description;
  }
}

function asRegExp(template: string): RegExp {
  return new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`);
}
