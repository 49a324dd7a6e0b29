import { DelayQueueError } from 'nestjs-delay-queue';
import { type ClassModel, isFinal } from '../java/class-model.js';
import { type JavaType, PRIMITIVES } from '../java/java-type.js';
import { platformClasses } from '../java/platform-classes.js';
import { UnreadableValue } from './kryo-failures.js';
import { Serializers } from './serializers.js';

/** Classes of which Kryo writes nothing that depends on type arguments. */
const INDIFFERENT = new Set(['java.lang.Comparable', 'java.util.EnumSet', 'java.util.EnumMap']);

/**
 * Checks what matters only to Kryo: type arguments determine its bytes, so none may be missing.
 * @throws DelayQueueError `INVALID_OPTION`, naming the class and the field
 */
export function checkForKryo(model: ClassModel): void {
  const serializers = new Serializers(model);
  for (const declared of model.values()) {
    if (declared.kind === 'enum') continue;
    for (const [field, type] of declared.fields) {
      const problem = problemWith(type, model, serializers);
      if (problem === undefined) continue;
      throw new DelayQueueError('INVALID_OPTION', `classes: ${declared.name}.${field}: ${problem}`);
    }
  }
}

function problemWith(type: JavaType, model: ClassModel, serializers: Serializers): string | undefined {
  const { name, element, arguments: args } = type;
  if (element !== undefined) return problemWith(element, model, serializers);
  const parameters = platformClasses.get(name)?.parameters ?? 0;
  if (parameters > 0 && args === undefined && !INDIFFERENT.has(name)) {
    const example = parameters === 1 ? '<Object>' : '<Object, Object>';
    return `Kryo's bytes depend on the type arguments of ${name}; write them as in Java, and ${example} where Java has none`;
  }
  if (model.get(name)?.kind === 'fields' && args?.some((argument) => isFinal(model, argument)) === true) {
    return `${name} with a final class as its type argument cannot be read: Kryo leaves out the classes of its fields`;
  }
  const isScalar = isFinal(model, type) && !PRIMITIVES.has(name) && model.get(name) === undefined;
  if (isScalar) {
    try {
      serializers.of(name);
    } catch (error) {
      if (error instanceof UnreadableValue) return error.message;
      throw error;
    }
  }
  return args?.map((argument) => problemWith(argument, model, serializers)).find((problem) => problem !== undefined);
}
