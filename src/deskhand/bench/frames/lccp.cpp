// LCCP of PCL on one cloud. stdin: int32 n, then n x 6 float32 (x y z [m], r g b 0..255); stdout: n int32 labels, 0 for none.
#include <pcl/point_types.h>
#include <pcl/segmentation/lccp_segmentation.h>
#include <pcl/segmentation/supervoxel_clustering.h>
#include <pcl/segmentation/impl/lccp_segmentation.hpp>
#include <pcl/segmentation/impl/supervoxel_clustering.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

using Point = pcl::PointXYZRGBA;

enum Argument { VOXEL, SEED, COLOR, SPATIAL, NORMAL, TRANSFORM, REFINE, CONCAVITY, SMOOTH, MIN_SEGMENT, K, SANITY, ARGUMENTS };

int main(int argc, char **argv) {
  if (argc != ARGUMENTS + 1) return 1;
  double value[ARGUMENTS];
  for (int i = 0; i < ARGUMENTS; ++i) value[i] = std::atof(argv[i + 1]);
  int count;
  if (std::fread(&count, sizeof count, 1, stdin) != 1 || count < 1) return 2;
  std::vector<float> data(6 * static_cast<size_t>(count));
  if (std::fread(data.data(), sizeof(float), data.size(), stdin) != data.size()) return 2;

  pcl::PointCloud<Point>::Ptr cloud(new pcl::PointCloud<Point>);
  cloud->resize(count);
  cloud->width = count;
  cloud->height = 1;
  for (int i = 0; i < count; ++i) {
    Point &point = (*cloud)[i];
    const float *row = &data[6 * static_cast<size_t>(i)];
    point.x = row[0]; point.y = row[1]; point.z = row[2];
    point.r = row[3]; point.g = row[4]; point.b = row[5]; point.a = 255;
  }

  pcl::SupervoxelClustering<Point> supervoxels(value[VOXEL], value[SEED]);
  supervoxels.setUseSingleCameraTransform(value[TRANSFORM] > 0);
  supervoxels.setInputCloud(cloud);
  supervoxels.setColorImportance(value[COLOR]);
  supervoxels.setSpatialImportance(value[SPATIAL]);
  supervoxels.setNormalImportance(value[NORMAL]);
  std::map<std::uint32_t, pcl::Supervoxel<Point>::Ptr> clusters;
  supervoxels.extract(clusters);
  if (value[REFINE] > 0) supervoxels.refineSupervoxels(2, clusters);
  std::multimap<std::uint32_t, std::uint32_t> adjacency;
  supervoxels.getSupervoxelAdjacency(adjacency);

  pcl::LCCPSegmentation<Point> lccp;
  lccp.setConcavityToleranceThreshold(value[CONCAVITY]);
  lccp.setSanityCheck(value[SANITY] > 0);
  lccp.setSmoothnessCheck(true, value[VOXEL], value[SEED], value[SMOOTH]);
  lccp.setKFactor(static_cast<unsigned>(value[K]));
  lccp.setInputSupervoxels(clusters, adjacency);
  lccp.setMinSegmentSize(static_cast<unsigned>(value[MIN_SEGMENT]));
  lccp.segment();
  pcl::PointCloud<pcl::PointXYZL>::Ptr labelled = supervoxels.getLabeledCloud();
  lccp.relabelCloud(*labelled);

  std::vector<int> labels(count, 0);
  for (int i = 0; i < count && i < static_cast<int>(labelled->size()); ++i) labels[i] = (*labelled)[i].label;
  return std::fwrite(labels.data(), sizeof(int), labels.size(), stdout) == labels.size() ? 0 : 3;
}
