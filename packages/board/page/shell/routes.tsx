import { useSession } from '../api/session.js';
import { Heading } from '../parts/heading.js';
import { Link, pathTo, usePlace } from '../router.js';
import { ErrorsView } from '../views/errors.js';
import { FindView } from '../views/find/find-view.js';
import { FutureView } from '../views/future/future-view.js';
import { GroupsView } from '../views/groups/groups-view.js';
import { HandledView } from '../views/handled/handled-view.js';
import { JobView } from '../views/many/job-view.js';
import { MessageView } from '../views/message/message-view.js';
import { OverviewView } from '../views/overview.js';
import { RepeatsView } from '../views/repeats.js';
import { WorkersView } from '../views/workers.js';
import { QueueFrame } from './queue-frame.js';
import { instanceIn, type QueueViewProps } from './where.js';

/** Shows the view that the address names. */
export function Routes() {
  const { config } = useSession();
  const place = usePlace();
  const { segments, query } = place;
  const instance = instanceIn(place, config.instances);
  if (!config.instances.includes(instance)) return <Nowhere />;
  if (segments.length === 0 || (segments[0] === 'i' && segments.length === 2)) {
    return <OverviewView key={instance} instance={instance} query={query} />;
  }
  const [root, , section, queue, view = '', job] = segments;
  if (root !== 'i') return <Nowhere />;
  if (section === 'workers') return <WorkersView key={instance} instance={instance} query={query} />;
  if (section !== 'queues' || queue === undefined) return <Nowhere />;

  const where = { instance, queue, query };
  const content = contentOf(view, where, job);
  if (!content) return <Nowhere />;
  return (
    <QueueFrame key={`${instance}/${queue}`} instance={instance} queue={queue} view={view}>
      {content}
    </QueueFrame>
  );
}

function contentOf(view: string, where: QueueViewProps, job: string | undefined) {
  switch (view) {
    case '':
      return <FutureView {...where} />;
    case 'messages':
      return <FindView {...where} />;
    case 'message':
      return <MessageView key={where.query.get('id')} {...where} />;
    case 'errors':
      return <ErrorsView {...where} />;
    case 'groups':
      return <GroupsView {...where} />;
    case 'repeats':
      return <RepeatsView {...where} />;
    case 'handled':
      return <HandledView {...where} />;
    case 'jobs':
      return job === undefined ? null : <JobView key={job} {...where} job={job} />;
    default:
      return null;
  }
}

function Nowhere() {
  return (
    <>
      <Heading title="Not found">Nothing is here</Heading>
      <p class="lead">
        The address names nothing that this board shows. <Link to={pathTo([])}>See all queues</Link>
      </p>
    </>
  );
}
