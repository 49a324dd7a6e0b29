import { DelayQueueError, type DelayQueueErrorCode } from '../message/delay-queue-errors.js';

type Method = (...args: unknown[]) => unknown;

export interface DeclaredMethod<Declaration> {
  readonly declarations: readonly Declaration[];
  /** The method as it was when decorated. Another method may have replaced it since. */
  readonly decorated: Method;
}

type ByName<Declaration> = Map<string | symbol, DeclaredMethod<Declaration>>;

export interface DecoratorKind {
  /** The decorator as written in code, such as `@DelayedHandler`. */
  readonly decorator: string;
  readonly code: DelayQueueErrorCode;
  /** The metadata key, the same in all copies of the package, so a method is found whichever copy decorated it. */
  readonly key: symbol;
}

/**
 * The methods declared with one kind of decorator.
 *
 * A declaration belongs to the method's name in its class and subclasses, because the method itself may be replaced: by a decorator above
 * that wraps it, by a class decorator that wraps all methods, by an override, or by a spy. The declaration also belongs to the method,
 * which may be copied to another class.
 */
export class DeclaredMethods<Declaration> {
  constructor(readonly kind: DecoratorKind) {}

  decorate(declaration: Declaration): MethodDecorator {
    return (target, name, descriptor?: PropertyDescriptor) => {
      const decorated = methodOf(this.kind, { target, name, descriptor });
      const own = this.#ownOf(target);
      const { declarations = [] } = own.get(name) ?? {};
      own.set(name, { declarations: [...declarations, declaration], decorated });
      const { key } = this.kind;
      Reflect.defineMetadata(key, own, target);
      Reflect.defineMetadata(key, [...this.#copiedWith(decorated), declaration], decorated);
    };
  }

  /** Yields the declared methods of a class, including inherited ones. An override with its own declarations has only those. */
  *of(prototype: object): Generator<[string | symbol, DeclaredMethod<Declaration>]> {
    const names = new Set<string | symbol>();
    for (const each of classesOf(prototype)) {
      for (const found of [this.#ownOf(each), this.#copiedTo(each)]) {
        for (const [name, declared] of found) {
          if (names.has(name)) continue;
          names.add(name);
          yield [name, declared];
        }
      }
    }
  }

  #ownOf(prototype: object): ByName<Declaration> {
    return (
      (Reflect.getOwnMetadata(this.kind.key, prototype) as ByName<Declaration> | undefined) ?? new Map<never, never>()
    );
  }

  *#copiedTo(prototype: object): Generator<[string | symbol, DeclaredMethod<Declaration>]> {
    for (const name of Reflect.ownKeys(prototype)) {
      const decorated: unknown = Object.getOwnPropertyDescriptor(prototype, name)?.value;
      if (typeof decorated !== 'function') continue;
      const declarations = this.#copiedWith(decorated);
      if (declarations.length > 0) yield [name, { declarations, decorated: decorated as Method }];
    }
  }

  #copiedWith(method: object): readonly Declaration[] {
    return (Reflect.getOwnMetadata(this.kind.key, method) as Declaration[] | undefined) ?? [];
  }
}

function* classesOf(prototype: object): Generator<object> {
  let each: object | null = prototype;
  while (each && each !== Object.prototype) {
    yield each;
    each = Object.getPrototypeOf(each) as object | null;
  }
}

interface Decoration {
  readonly target: object;
  /** An object if the decorator was applied as a standard (TC39) decorator. */
  readonly name: string | symbol | object;
  readonly descriptor: PropertyDescriptor | undefined;
}

/** Returns the decorated method. Throws unless it is an instance method, since Nest calls no other. */
function methodOf({ decorator, code }: DecoratorKind, { target, name, descriptor }: Decoration): Method {
  const refuse = (place: string, problem: string) => new DelayQueueError(code, `${decorator} on ${place}: ${problem}`);
  if (typeof name === 'object') {
    throw refuse('a method', 'it needs the decorators that Nest uses: set experimentalDecorators in tsconfig.json');
  }
  const isStatic = typeof target === 'function';
  const place = `${isStatic ? target.name : target.constructor.name}.${String(name)}`;
  if (isStatic) throw refuse(place, 'a static method is never called: remove static, and provide the class');
  const method: unknown = descriptor?.value;
  if (typeof method !== 'function') {
    throw refuse(
      place,
      `it is a property or an accessor, which is never called: write a method, ${String(name)}() { … }`,
    );
  }
  return method as Method;
}
