import { DelayQueueError } from 'nestjs-delay-queue';
import { type ClassModel, isFinal } from '../java/class-model.js';
import type { JavaType } from '../java/java-type.js';

/** Jackson writes values of these classes alike wherever they are. */
const ALIKE = new Set(['String', 'Integer', 'Boolean', 'Double'].map((name) => `java.lang.${name}`));

/**
 * Checks what only matters to Jackson. It writes a value of a final class without its class where a type argument tells it. The declaration
 * of a class with type parameters does not say which of its fields have that type.
 * @throws DelayQueueError `INVALID_OPTION`, which names the class and the field
 */
export function checkForJackson(model: ClassModel): void {
  for (const declared of model.values()) {
    if (declared.kind === 'enum') continue;
    for (const [field, type] of declared.fields) {
      const problem = problemWith(type, model);
      if (problem !== undefined) {
        throw new DelayQueueError('INVALID_OPTION', `classes: ${declared.name}.${field}: ${problem}`);
      }
    }
  }
}

function problemWith({ name, element, arguments: args }: JavaType, model: ClassModel): string | undefined {
  if (element !== undefined) return problemWith(element, model);
  const hidden = model.has(name) && args?.find((argument) => isFinal(model, argument) && !ALIKE.has(argument.name));
  if (hidden) {
    return `${name} with ${hidden.name} as its type argument cannot be declared: Jackson leaves out this class in its fields`;
  }
  return args?.map((argument) => problemWith(argument, model)).find((problem) => problem !== undefined);
}
